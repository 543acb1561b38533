import * as v from "valibot"
import { domains } from "#server/domains.ts"
import { methodOf, namesIn } from "#server/http/operations.ts"
import type { May } from "#server/operations/contract.ts"
import { isRead, type Operation } from "#server/operations/implement.ts"
import { LINK_TOKEN, THERE, type Standing } from "./space-content.ts"
import type { Call } from "./space-functions.ts"
import {
  EDITORS,
  EVERYONE,
  LEAVING,
  MEMBERS,
  NOBODY,
  OWNER,
  OWNER_ALONE,
  type Answers,
} from "./space-rights.ts"
import type { Route } from "./space-routes.ts"

const operations = domains.flatMap((domain) => domain.operations ?? [])

const ANSWERS: Readonly<Record<May, Answers>> = {
  "signed-in": EVERYONE,
  session: EVERYONE,
  member: MEMBERS,
  editor: EDITORS,
  owner: OWNER,
  // Of what there is one of in these tests, the owner is the holder.
  holder: OWNER_ALONE,
}

/** Values of inputs, by the field. */
function samplesFor(userIds: Record<Standing, string>): Readonly<Record<string, unknown>> {
  const { spaceId, threadId, messageId, waitingId, fileId, linkId } = THERE
  return {
    spaceId,
    threadId,
    messageId,
    waitingId,
    fileId,
    title: "Another",
    fileName: "new.txt",
    peopleOnly: true,
    invitationId: linkId,
    userId: userIds.reader,
    name: "Another",
    role: "editor",
    token: LINK_TOKEN,
  }
}

/** Those for which the field alone, or `may` alone, does not say it. */
const OTHERWISE: Readonly<Record<string, Partial<Call>>> = {
  "spaces.leave": { answers: LEAVING },
  "spaces.restore": { args: { spaceId: THERE.trashedSpaceId } },
  "spaces.accept": { answers: NOBODY, args: { invitationId: THERE.invitationId } },
  "spaces.decline": { answers: NOBODY, args: { invitationId: THERE.invitationId } },
}

/** Every declared mutation besides `others`, by name. */
export function declaredMutations(
  userIds: Record<Standing, string>,
  others: Readonly<Record<string, string>>,
): Record<string, Call> {
  const called = operations.filter(
    (operation) => !operation.httpOnly && !isRead(operation) && !(operation.name in others),
  )
  return Object.fromEntries(called.map((operation) => [operation.name, callOf(operation, userIds)]))
}

/** Every declared operation of the HTTP API, as `DELETE /api/spaces/{spaceId}`. */
export function declaredRoutes(userIds: Record<Standing, string>): Record<string, Route> {
  return Object.fromEntries(
    operations.flatMap((operation) => {
      const pattern = operation.http?.at.split(" ")[1]
      if (pattern === undefined) return []
      const method = methodOf(operation)
      const { answers, args } = callOf(operation, userIds)
      const route: Route = {
        answers,
        ok: operation.output ? (operation.http?.creates ? 201 : 200) : 204,
        ...requestOf(method, pattern, args),
      }
      return [[`${method} ${pattern.replaceAll(/:(\w+)/g, "{$1}")}`, route]]
    }),
  )
}

function callOf(operation: Operation, userIds: Record<Standing, string>): Call {
  const { answers = ANSWERS[operation.may], args = sampleOf(operation, samplesFor(userIds)) } =
    OTHERWISE[operation.name] ?? {}
  return { answers, args }
}

function sampleOf({ name, input }: Operation, samples: Readonly<Record<string, unknown>>) {
  const [first] = "options" in input ? input.options : [input]
  const fields = Object.keys(first?.entries ?? {}).filter((field) => field in samples)
  const sample = Object.fromEntries(fields.map((field) => [field, samples[field]]))
  const missing = v.safeParse(input, sample).issues?.[0]
  // Where there are no people yet, only names are read.
  if (missing && samples["userId"] !== "")
    throw new Error(`Give ${name} a sample of ${v.getDotPath(missing)}: ${missing.message}`)
  return sample
}

function requestOf(method: string, pattern: string, args: Record<string, unknown>) {
  const path = pattern.replaceAll(/:(\w+)/g, (_name, name: string) => String(args[name]))
  const rest = Object.entries(omit(args, namesIn(pattern)))
  if (rest.length === 0) return { path, init: () => ({ method }) }
  if (["GET", "DELETE"].includes(method)) {
    const query = new URLSearchParams(rest.map(([name, value]) => [name, String(value)]))
    return { path: `${path}?${query.toString()}`, init: () => ({ method }) }
  }
  const headers = { "Content-Type": "application/json" }
  return { path, init: () => ({ method, headers, body: JSON.stringify(Object.fromEntries(rest)) }) }
}

function omit(args: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name)))
}
