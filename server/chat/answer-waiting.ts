import { and, asc, eq, notExists, sql } from "drizzle-orm"
import { chatTurns, chatWaiting } from "#db/schema/chat.ts"
import { users } from "#db/schema/users.ts"
import { Conflict, Forbidden, NotFound } from "#server/errors.ts"
import { createFailureLog } from "#server/log.ts"
import { startRecurring, type Recurring } from "#server/recurring.ts"
import type { Scope } from "#server/scope.ts"
import { actAs } from "#server/users/act-as.ts"
import { askInBackground } from "./turn.ts"
import { endWaiting } from "./waiting.ts"

/** Milliseconds. */
const INTERVAL = 2500

type Answering = Scope<"config" | "db" | "dbFor" | "log" | "replies" | "turns">

/**
 * Begins the reply to the message that is first in line, in every conversation in which none is being
 * generated: at once after a reply of this process, and regularly for those whose process has died.
 * Any number of processes may look at the same time: the database decides which of them begins.
 */
export function startAnsweringWaiting(scope: Answering): Recurring {
  const failures = createFailureLog(scope.log, "waiting messages can be replied to again")
  scope.turns.onEnded((threadId) => answerNext(scope, threadId).then(failures.succeeded, warn))
  return startRecurring(async () => {
    try {
      for (const threadId of await findLines(scope)) await answerNext(scope, threadId)
      failures.succeeded()
    } catch (error) {
      warn(error)
    }
  }, INTERVAL)

  function warn(error: unknown) {
    failures.failed("warn", error, "could not reply to a waiting message; the next look will try again")
  }
}

/** Conversations in which somebody waits and no reply is being generated. */
async function findLines({ db }: Scope<"db">): Promise<string[]> {
  const running = db
    .select({ one: sql`1` })
    .from(chatTurns)
    .where(and(eq(chatTurns.threadId, chatWaiting.threadId), eq(chatTurns.status, "running")))
  const lines = await db
    .selectDistinct({ threadId: chatWaiting.threadId })
    .from(chatWaiting)
    .where(and(eq(chatWaiting.state, "waiting"), notExists(running)))
  return lines.map(({ threadId }) => threadId)
}

/**
 * Begins the reply to the first message in a conversation's line, as its author. One whose author may
 * no longer write there is passed over. Does nothing while a reply is being generated, and if
 * another process begins it.
 */
export async function answerNext(scope: Answering, threadId: string): Promise<void> {
  for (;;) {
    const next = await findFirst(scope, threadId)
    if (!next) return
    const { _id: waitingId, requestId, content: text, user } = next
    const asking = { ...scope, db: scope.dbFor(user.clerkId), viewer: actAs(user) }
    try {
      await askInBackground(asking, threadId, { requestId, text, again: false, waitingId })
      return
    } catch (error) {
      if (error instanceof Conflict) return
      if (!(error instanceof NotFound) && !(error instanceof Forbidden)) throw error
      await endWaiting(scope.db, waitingId, "passed")
    }
  }
}

async function findFirst({ db }: Scope<"db">, threadId: string) {
  const [first] = await db
    .select({
      _id: chatWaiting._id,
      requestId: chatWaiting.requestId,
      content: chatWaiting.content,
      user: users,
    })
    .from(chatWaiting)
    .innerJoin(users, eq(users._id, chatWaiting.userId))
    .where(and(eq(chatWaiting.threadId, threadId), eq(chatWaiting.state, "waiting")))
    .orderBy(asc(chatWaiting.place))
    .limit(1)
  return first
}
