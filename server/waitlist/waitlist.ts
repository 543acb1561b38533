import { waitlist } from "#db/schema/waitlist.ts"
import type { Scope } from "#server/scope.ts"
import type { JoinWaitlist } from "./contract.ts"

/** Keeps an address once, however it is capitalised. Says nothing of whether it was there before: that is its owner's affair. */
export async function joinWaitlist({ db }: Scope<"db">, { email }: JoinWaitlist): Promise<void> {
  await db.insert(waitlist).values({ email }).onConflictDoNothing()
}
