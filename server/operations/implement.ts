import * as v from "valibot"
import { Forbidden } from "#server/errors.ts"
import { defineMutation, type Mutation, type Refusals } from "#live/open"
import { allRefusalTexts, type Reason } from "#server/refusal-contract.ts"
import type { MutationScope } from "#server/scope.ts"
import { requireOperator } from "./operator.ts"
import type { Declared, May, OutputOf, Refuses } from "./contract.ts"

/** What comes with the input. With a mutation of the socket nothing does. */
interface Call {
  once?: { readonly key: string } | undefined
}

/** With one that is HTTP's alone: also the network that limits count by. */
interface HttpCall extends Call {
  network: string
}

/** An operation with the function that performs it. */
export type Operation = Declared & {
  run(scope: MutationScope, input: unknown, call: Call | HttpCall): Promise<unknown>
  match?: Match | undefined
}

/** Throws `PreconditionFailed` unless `If-Match` names what a path leads to. Before the input is read. */
type Match = (scope: MutationScope, inPath: Record<string, string>, headers: Headers) => Promise<void>

/** Each function's first parameter names what it needs. */
type Functions<Ops extends Record<string, Declared>> = {
  readonly [Key in keyof Ops]: (
    scope: MutationScope,
    input: v.InferOutput<Ops[Key]["input"]>,
    call: Ops[Key] extends { httpOnly: true } ? HttpCall : Call,
  ) => Promise<OutputOf<Ops[Key]>>
}

/** Gives each declared operation of a domain its function. One that is missing does not compile. */
export function implement<Ops extends Record<string, Declared>>(
  declared: Ops,
  functions: Functions<Ops>,
  match?: Match,
): Operation[] {
  return Object.entries(declared).map(([key, operation]) =>
    Object.assign({}, operation, {
      match: operation.http?.honours && match,
      run: guarded(operation.may, functions[key as keyof Ops]),
    }),
  )
}

function guarded(may: May, run: Operation["run"]): Operation["run"] {
  const { [may]: guard } = GUARDS
  if (!guard) return run
  return async (scope, input, call) => {
    await guard(scope)
    return run(scope, input, call)
  }
}

/** Those that are no question of a place. */
const GUARDS: Readonly<Partial<Record<May, (scope: MutationScope) => Promise<void>>>> = {
  session: requireSession,
  operator: requireOperator,
}

/** An API key opens the application, not the account. */
async function requireSession({ viewer }: MutationScope): Promise<void> {
  if (viewer.session.via === "api-key") throw new Forbidden("session-needed")
}

/** Those that clients of the socket can call by name. */
export function mutationsOf(operations: readonly Operation[]): Mutation<MutationScope>[] {
  return operations
    .filter((operation) => !operation.httpOnly && !isRead(operation))
    .map((operation) =>
      defineMutation({
        name: operation.name,
        description: operation.about,
        args: operation.input,
        value: returnedBy(operation),
        refusals: sentencesOf(refusesOf(operation)),
        async run(scope: MutationScope, input) {
          const output = await operation.run(scope, input, {})
          const { returns } = operation
          return returns === undefined ? output : (output as Record<string, unknown>)[returns]
        },
      }),
    )
}

function returnedBy({ name, output = v.null(), returns }: Operation): v.GenericSchema {
  if (returns === undefined) return output
  const schema = "entries" in output ? (output.entries as v.ObjectEntries)[returns] : undefined
  if (!schema) throw new Error(`The output of ${name} has no field ${returns}.`)
  return schema
}

export function isRead({ http }: Declared): boolean {
  return http?.at.startsWith("GET ") === true
}

/** The reason for which those are refused who see a space and may not do this in it. */
const LACKS: Readonly<Partial<Record<May, Reason>>> = {
  session: "session-needed",
  editor: "space-reader",
  owner: "space-owner-only",
}

/** All of an operation's own reasons to be refused, with those that follow from who may call it. */
export function refusesOf({ may, missing, refuses = {} }: Declared): Refuses {
  const missed: Reason[] = may === "signed-in" || !missing ? [] : [`no-such-${missing}`]
  const { [may]: lacks } = LACKS
  return {
    ...refuses,
    ...withMore("not_found", missed, refuses),
    ...withMore("forbidden", lacks ? [lacks] : [], refuses),
  }
}

function withMore(code: keyof Refuses, more: Reason[], refuses: Refuses): Refuses {
  return more.length === 0 ? {} : { [code]: [...more, ...(refuses[code] ?? [])] }
}

/** By code: the sentences of the reasons. */
export function sentencesOf(refuses: Refuses): Refusals {
  return Object.fromEntries(
    Object.entries(refuses).map(([code, reasons]) => [code, reasons.map(sentenceOf).join(" ")]),
  )
}

/** For a document, with its name for programs. */
export function sentenceOf(reason: Reason): string {
  return `\`${reason}\`: ${allRefusalTexts[reason]}`
}
