import { createHash } from "node:crypto"
import { and, eq, inArray, or, sql } from "drizzle-orm"
import * as v from "valibot"
import { chatMessages, chatTurns, chatWaiting } from "#db/schema/chat.ts"
import { blobs, files } from "#db/schema/files.ts"
import { Conflict, isRefusal } from "#server/errors.ts"
import { readableFiles } from "#server/files/access.ts"
import { uploadFile } from "#server/files/upload.ts"
import type { Scope } from "#server/scope.ts"
import { requireEditableThread } from "./access.ts"
import { refuseUnfit } from "./attachments.ts"
import { MessageId } from "./contract.ts"
import { deadlineOf } from "./deadline.ts"
import { decodeFile, type DecodedFile } from "./posted-files.ts"
import type { SentMessage } from "./resent.ts"

type Storing = Parameters<typeof uploadFile>[0]

/**
 * Stores the files in a message where its conversation is, as if they had been uploaded before, and
 * resolves with the message that refers to them. Files that the message has already are not stored
 * again when it is sent again. Throws what `uploadFile` throws, and before anything is stored
 * BadRequest for what the model cannot receive, and Conflict for a message that cannot wait for the
 * reply that is being generated. If a message is refused later, its files stay, and are used when it
 * is sent again.
 */
export async function storeFiles(
  scope: Storing,
  threadId: string,
  message: SentMessage,
): Promise<SentMessage> {
  const { files: posted = [], ...question } = message
  if (posted.length === 0) return question
  const spaceId = await findPlace(scope, threadId, message)
  if (!message.mayWait && !message.toPeople) await refuseWhileRunning(scope, threadId)
  const decoded: DecodedFile[] = []
  for (const file of posted) decoded.push(await decodeFile(file))
  refuseUnfit(decoded)
  const attached = await findAttached(scope, threadId, message)
  const fileIds = [...(message.fileIds ?? [])]
  for (const file of decoded) {
    const known = attached.find(({ _id, sha256 }) => sha256 === file.sha256 && !fileIds.includes(_id))
    fileIds.push(known?._id ?? (await store(scope, threadId, message, spaceId, file)))
  }
  return { ...question, fileIds: [...new Set(fileIds)] }
}

async function findPlace(
  scope: Storing,
  threadId: string,
  { createsThread, spaceId }: SentMessage,
): Promise<string | null> {
  try {
    return (await requireEditableThread(scope, threadId)).spaceId
  } catch (error) {
    if (createsThread && isRefusal(error) && error.status === 404) return spaceId ?? null
    throw error
  }
}

async function refuseWhileRunning({ db }: Scope<"db">, threadId: string): Promise<void> {
  const running = and(eq(chatTurns.threadId, threadId), eq(chatTurns.status, "running"))
  if ((await db.$count(chatTurns, and(running, sql`${deadlineOf(chatTurns)} > ${Date.now()}`))) > 0)
    throw new Conflict("reply-running")
}

/** The files of the message as it is stored. */
async function findAttached(
  scope: Scope<"db" | "viewer">,
  threadId: string,
  { requestId, replaces }: SentMessage,
): Promise<{ _id: string; sha256: string }[]> {
  const { db } = scope
  const stored = await db
    .select({ attachments: chatMessages.attachments })
    .from(chatMessages)
    .leftJoin(chatTurns, eq(chatTurns.questionId, chatMessages._id))
    .where(
      and(
        eq(chatMessages.threadId, threadId),
        or(
          eq(chatTurns.requestId, requestId),
          eq(chatMessages.requestId, requestId),
          v.is(MessageId, replaces) ? eq(chatMessages._id, replaces) : undefined,
        ),
      ),
    )
  const waiting = await db
    .select({ attachments: chatWaiting.attachments })
    .from(chatWaiting)
    .where(and(eq(chatWaiting.threadId, threadId), eq(chatWaiting.requestId, requestId)))
  const fileIds = [...stored, ...waiting].flatMap(({ attachments }) =>
    (attachments ?? []).map(({ fileId }) => fileId),
  )
  return db
    .select({ _id: files._id, sha256: blobs.sha256 })
    .from(files)
    .innerJoin(blobs, eq(blobs._id, files.storageId))
    .where(and(readableFiles(scope, { trashed: false }), inArray(files._id, fileIds)))
}

/**
 * With a key, because the same message may arrive twice at the same time. What was stored with it
 * may have been removed since.
 */
async function store(
  scope: Storing,
  threadId: string,
  { requestId }: SentMessage,
  spaceId: string | null,
  { fileName, size, sha256, bytes }: DecodedFile,
): Promise<string> {
  const key = createHash("sha256")
    .update(JSON.stringify([threadId, requestId, fileName, sha256]))
    .digest("hex")
  const upload = (once?: { key: string }) =>
    uploadFile(
      scope,
      { fileName, bytes: whole(bytes.subarray(0, size)), size: { exactly: size }, once },
      spaceId === null ? {} : { spaceId },
    )
  const { _id } = await upload({ key: `message ${key}` })
  const there = and(readableFiles(scope, { trashed: false }), eq(files._id, _id))
  return (await scope.db.$count(files, there)) > 0 ? _id : (await upload())._id
}

async function* whole(bytes: Uint8Array) {
  yield bytes
}
