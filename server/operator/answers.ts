import { asc, eq } from "drizzle-orm"
import type { OperatorAct } from "#db/schema/operator.ts"
import { chatTurns } from "#db/schema/chat.ts"
import { users } from "#db/schema/users.ts"
import { requestStopOfAnswer } from "../chat/stop.ts"
import { Conflict } from "../errors.ts"
import type { Scope } from "../scope.ts"
import { recordAct } from "./history.ts"

/** The answers that are being given now, by any process, the one that takes longest first. Nothing of what they say. */
export function listRunningAnswers({ db }: Scope<"db">, { limit }: { limit: number }) {
  const { _id, _creationTime, model, process, stopRequestedAt } = chatTurns
  return db
    .select({ _id, _creationTime, model, process, stopRequestedAt, email: users.email })
    .from(chatTurns)
    .innerJoin(users, eq(users._id, chatTurns.userId))
    .where(eq(chatTurns.status, "running"))
    .orderBy(asc(chatTurns._id))
    .limit(limit)
}

/** Stops an answer with what was said so far kept, whosever it is. Throws `Conflict` for one that is over. */
export function stopRunningAnswer(
  scope: Scope<"announce" | "db" | "viewer">,
  answerId: string,
): Promise<OperatorAct> {
  return scope.db.transaction(async (db) => {
    const here = { ...scope, db }
    const stopped = await requestStopOfAnswer(here, answerId)
    if (!stopped) throw new Conflict("That reply has already ended.")
    const [owner] = await db
      .select({ id: users.clerkId, email: users.email })
      .from(users)
      .where(eq(users._id, stopped.userId))
    return recordAct(here, here.viewer, { act: "stop-answer", subject: owner ?? null, facts: null })
  })
}
