import { createHash } from "node:crypto"

import * as v from "valibot"

import type { Committed } from "../protocol/contract.ts"
import type { Mutation } from "./live-query.ts"
import { lsnFromSql, lsnToWire } from "./lsn.ts"
import { Refused, unstorable } from "./refusal.ts"
import { isStorable } from "../protocol/storable-contract.ts"

/** A statement in the mutation's transaction. Values are text; the statement casts them. */
export type TransactionQuery = (
  text: string,
  values: readonly string[],
) => Promise<readonly Record<string, unknown>[]>

/** The error for arguments that a mutation's schema does not accept. */
export type RefuseArguments = (
  issues: readonly [{ message: string }, ...unknown[]],
  schema: v.GenericSchema,
  args: unknown,
) => Error

/**
 * Opens a transaction for the product, runs `work` in it and commits, or rolls back and rethrows
 * what `work` threw.
 */
export type Transact<Viewer, Scope> = <Value>(
  viewer: Viewer,
  work: (scope: Scope, query: TransactionQuery) => Promise<Value>,
) => Promise<Value>

export interface MutationRequest {
  readonly mutation: string
  readonly args: unknown
  readonly mutationId: string
}

const REMEMBERED = `
  insert into realtime.mutations (user_id, mutation_id, digest) values ($1, $2, $3)
  on conflict (user_id, mutation_id) do nothing
  returning pg_current_xact_id()::text as xid`

const RECALL = `
  select digest, value::text as value, xid from realtime.mutations where user_id = $1 and mutation_id = $2`

const FINISH = `
  update realtime.mutations set value = $3::text::json, xid = pg_current_xact_id()::text
  where user_id = $1 and mutation_id = $2`

// The flushed log includes a commit that waited for its flush; one that did not wait may lie
// beyond.
const PLACE = `
  select (case current_setting('synchronous_commit') when 'off' then pg_current_wal_insert_lsn()
    else pg_current_wal_flush_lsn() end)::text as lsn`

/**
 * Runs declared mutations. The id is stored in the transaction that does the work, so a repeated
 * request finds either everything or nothing.
 */
export function createMutator<Viewer, Scope>(
  mutations: readonly Mutation<Scope>[],
  transact: Transact<Viewer, Scope>,
  place: (statement: string) => Promise<string>,
  permit: (viewer: Viewer, name: string) => void,
  refuseArguments: RefuseArguments = ([issue]) => new Refused("invalid", issue.message),
) {
  const byName = new Map(mutations.map((mutation) => [mutation.name, mutation]))
  if (byName.size < mutations.length) throw new Error("Two mutations have the same name.")

  return async function mutate(request: MutationRequest, viewer: Viewer, userId: string): Promise<Committed> {
    const mutation = byName.get(request.mutation)
    if (!mutation) throw new Refused("unknown", `There is no mutation named ${request.mutation}.`)
    permit(viewer, request.mutation)
    if (!isStorable(request.args)) throw unstorable()
    const parsed = v.safeParse(mutation.schema, request.args, { abortEarly: true })
    if (!parsed.success) throw refuseArguments(parsed.issues, mutation.schema, request.args)
    const digest = digestOf(request)
    const done = await transact(viewer, async (scope, query) => {
      const [fresh] = await query(REMEMBERED, [userId, request.mutationId, digest])
      if (!fresh) return recall(await query(RECALL, [userId, request.mutationId]), digest)
      const value = (await mutation.run(scope, parsed.output)) ?? null
      await query(FINISH, [userId, request.mutationId, JSON.stringify(value)])
      return { value, xid: String(fresh["xid"]) }
    })
    return { ...done, lsn: lsnToWire(lsnFromSql(await place(PLACE))) }
  }
}

function digestOf({ mutation, args }: MutationRequest): string {
  try {
    return createHash("sha256")
      .update(JSON.stringify([mutation, args]))
      .digest("base64url")
  } catch (error) {
    // A message of 64 kB can be nested deeper than the stack.
    if (error instanceof RangeError) throw new Refused("invalid", "The arguments are nested too deeply.")
    throw error
  }
}

function recall([row]: readonly Record<string, unknown>[], digest: string): { value: unknown; xid: string } {
  if (row?.["digest"] !== digest)
    throw new Refused("conflict", "This mutation id was used for something else.")
  return { value: JSON.parse(String(row["value"])), xid: String(row["xid"]) }
}
