import { createHmac, timingSafeEqual } from "node:crypto"
import { eq } from "drizzle-orm"
import { maintenance } from "#db/schema/maintenance.ts"
import type { Config } from "#server/config.ts"
import type { Scope } from "#server/scope.ts"

/** Maintenance mode, from one time to another. */
export interface Closure {
  _id: string
  /** The operator's message; null for the default one. */
  message: string | null
}

type Secrets = { identity: Pick<Config["identity"], "authSecret"> }

const ONLY_ONE = eq(maintenance.place, "everywhere")

export async function findClosure({ db }: Scope<"db">): Promise<Closure | null> {
  const [closure] = await db
    .select({ _id: maintenance._id, message: maintenance.message })
    .from(maintenance)
    .where(ONLY_ONE)
  return closure ?? null
}

/** Turns maintenance mode on, or changes its message if it is on: the pass stays the same. */
export async function beginMaintenance({ db }: Scope<"db">, message: string | null): Promise<Closure> {
  const [closure] = await db
    .insert(maintenance)
    .values({ message })
    .onConflictDoUpdate({ target: maintenance.place, set: { message } })
    .returning({ _id: maintenance._id, message: maintenance.message })
  if (!closure) throw new Error("The database returned no row for the closure.")
  return closure
}

/** Turns it off. False if it was off. */
export async function endMaintenance({ db }: Scope<"db">): Promise<boolean> {
  return (await db.delete(maintenance).where(ONLY_ONE).returning({ _id: maintenance._id })).length > 0
}

/** Admits anyone who has it, with or without an account. */
export function passOf({ identity }: Secrets, { _id }: Closure): string {
  return createHmac("sha256", identity.authSecret).update(`maintenance ${_id}`).digest("base64url")
}

export function isPass(config: Secrets, closure: Closure, shown: string): boolean {
  const [expected, given] = [Buffer.from(passOf(config, closure)), Buffer.from(shown)]
  return expected.length === given.length && timingSafeEqual(expected, given)
}
