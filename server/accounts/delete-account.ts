import { and, eq, isNull } from "drizzle-orm"
import { chatTurns } from "#db/schema/chat.ts"
import { files, uploads } from "#db/schema/files.ts"
import { users, type User } from "#db/schema/users.ts"
import { requestStopOfReply } from "#server/chat/stop.ts"
import { discardBlob, discardUpload } from "#server/files/discard.ts"
import { emailLater } from "#server/mail/mail.ts"
import type { AccountOutcome } from "#server/ports/account-forms.ts"
import type { FullScope, Scope } from "#server/scope.ts"
import { handOverSpaces, type SpaceChoices } from "#server/spaces/hand-over.ts"
import { findAddresses, type Address } from "./addresses.ts"
import { forgetInRecords } from "./own-records.ts"

type Deleting = Pick<
  FullScope,
  "announce" | "blobs" | "config" | "db" | "identity" | "live" | "log" | "turns"
>

/**
 * Returns null if the caller may delete the account, or why not. They enter their password. If a
 * provider of sign-in keeps it, the email address guards against a slip.
 */
export async function refuseDeletion(
  { identity, viewer }: Scope<"identity" | "viewer">,
  confirmation: string,
): Promise<(AccountOutcome & { ok: false }) | null> {
  const { userId } = viewer.session
  const { ownAccount } = identity
  if (await ownAccount?.hasPassword(userId)) return ownAccount?.checkPassword(userId, confirmation) ?? null
  const isRight = confirmation.trim().toLowerCase() === viewer.user.email.toLowerCase()
  return isRight ? null : { ok: false, problem: "wrong-credentials", status: 403, retryAfter: null }
}

/**
 * Deletes a person and everything of theirs: records, conversations, files with their bytes,
 * emails, sessions and keys. What they added to spaces stays there, without their name; `choices`
 * say what happens to the spaces that they own. Their live connections end in every process. If it
 * fails halfway, calling it again deletes the rest.
 */
export async function deleteAccount(
  scope: Deleting,
  user: User,
  choices: SpaceChoices = new Map(),
): Promise<void> {
  const { db, identity, live } = scope
  await stopReplies(scope, user)
  // Before the transaction: the provider may take a while to answer.
  const addresses = await findAddresses(scope, user)
  const left = await db.transaction((transaction) =>
    deleteRecords({ ...scope, db: transaction }, user, { addresses, choices }),
  )
  try {
    await identity.deleteUser(user.clerkId)
    // A page of theirs that made a request in the meantime got a new record.
    await db.delete(users).where(eq(users.clerkId, user.clerkId))
  } finally {
    await live.revokeUser(user.clerkId)
  }
  // Bytes go last: no row refers to them any more, and the sweep finds what cannot be removed now.
  for (const { id } of left.uploads) await discardUpload(scope, id)
  for (const { id } of left.blobs) await discardBlob(scope, id)
}

/** This process's connections have ended; the other processes are notified. */
async function stopReplies(scope: Deleting, user: User) {
  const running = await scope.db
    .select({ _id: chatTurns._id })
    .from(chatTurns)
    .where(and(eq(chatTurns.userId, user._id), eq(chatTurns.status, "running")))
  for (const { _id } of running) {
    await requestStopOfReply(scope, _id)
    await scope.turns.stop(_id)
  }
}

async function deleteRecords(
  scope: Deleting,
  user: User,
  { addresses, choices }: { addresses: readonly Address[]; choices: SpaceChoices },
) {
  const { db } = scope
  const { _id, email } = user
  await handOverSpaces(scope, _id, choices)
  const left = {
    uploads: await db.select({ id: uploads._id }).from(uploads).where(eq(uploads.userId, _id)),
    blobs: await db
      .selectDistinct({ id: files.storageId })
      .from(files)
      .where(and(eq(files.userId, _id), isNull(files.spaceId))),
  }
  await forgetInRecords(scope, user, addresses)
  if (email) await emailLater(scope, "account-deleted", user)
  await db.delete(users).where(eq(users._id, _id))
  return left
}
