import { asc, eq } from "drizzle-orm"
import type { OperatorChange } from "#db/schema/operator.ts"
import { chatTurns } from "#db/schema/chat.ts"
import { users } from "#db/schema/users.ts"
import { requestStopOfReply } from "#server/chat/stop.ts"
import { Conflict } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { recordChange } from "./history.ts"

/** Replies that any process is generating, longest-running first. Never includes their text. */
export function listRunningReplies({ db }: Scope<"db">, { limit }: { limit: number }) {
  const { _id, _creationTime, model, process, stopRequestedAt } = chatTurns
  return db
    .select({ _id, _creationTime, model, process, stopRequestedAt, email: users.email })
    .from(chatTurns)
    .innerJoin(users, eq(users._id, chatTurns.userId))
    .where(eq(chatTurns.status, "running"))
    .orderBy(asc(chatTurns._id))
    .limit(limit)
}

/** Stops anybody's reply and keeps its text so far. Throws `Conflict` if it has ended. */
export function stopRunningReply(
  scope: Scope<"announce" | "db" | "viewer">,
  answerId: string,
): Promise<OperatorChange> {
  return scope.db.transaction(async (db) => {
    const here = { ...scope, db }
    const stopped = await requestStopOfReply(here, answerId)
    if (!stopped) throw new Conflict("reply-ended")
    const [owner] = await db
      .select({ id: users.clerkId, email: users.email })
      .from(users)
      .where(eq(users._id, stopped.userId))
    return recordChange(here, here.viewer, { act: "stop-answer", subject: owner ?? null, facts: null })
  })
}
