import { and, eq, or, sql } from "drizzle-orm"
import { demoBoats } from "#db/schema/demo.ts"
import { databaseNow } from "#server/mail/outbox.ts"
import { startRecurring, type Recurring } from "#server/recurring.ts"
import type { Scope } from "#server/scope.ts"
import { isOutage } from "#live/check"
import { BOATS, type MoveBoat } from "./contract.ts"

/** A boat is reset after nobody has moved it for this long. Milliseconds. */
const QUIET = 2 * 60_000
const BETWEEN_LOOKS = 20_000

/** Returns whether anything changed. */
export async function moveBoat({ db }: Scope<"db">, { boat, state, lamp }: MoveBoat): Promise<boolean> {
  const isLit = lamp === undefined ? undefined : lamp === "on"
  const moved = await db
    .update(demoBoats)
    .set({
      movedAt: databaseNow,
      ...(state !== undefined && { state }),
      ...(isLit !== undefined && { lamp: isLit }),
    })
    .where(
      and(
        eq(demoBoats.name, boat),
        or(
          state === undefined ? sql`false` : sql`${demoBoats.state} <> ${state}`,
          isLit === undefined ? sql`false` : sql`${demoBoats.lamp} <> ${isLit}`,
        ),
      ),
    )
    .returning({ _id: demoBoats._id })
  return moved.length > 0
}

/**
 * Creates missing boats, and resets those that visitors have left. Any number of processes may do
 * so.
 */
export async function putBoatsBack({ db }: Scope<"db">): Promise<void> {
  await db
    .insert(demoBoats)
    .values([...BOATS])
    .onConflictDoUpdate({
      target: demoBoats.name,
      set: { state: sql`excluded.state`, lamp: sql`excluded.lamp`, movedAt: 0 },
      setWhere: sql`${demoBoats.movedAt} > 0 and ${demoBoats.movedAt} < ${databaseNow} - ${QUIET}`,
    })
}

export function startPuttingBoatsBack(scope: Scope<"db" | "log">): Recurring {
  return startRecurring(async () => {
    try {
      await putBoatsBack(scope)
    } catch (error) {
      if (!isOutage(error)) scope.log.error({ err: error }, "could not reset the demo's boats")
    }
  }, BETWEEN_LOOKS)
}
