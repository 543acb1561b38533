import { safeValidateUIMessages, type ModelMessage } from "ai"
import * as v from "valibot"
import { BadRequest } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { attachFiles, createFileReader, refuseUnfit } from "./attachments.ts"
import { decodeFile, readFilePart, type PostedFile } from "./posted-files.ts"
import {
  ATTACHMENTS_LIMIT,
  FileReference,
  MESSAGE_LIMIT,
  MESSAGES_LIMIT,
  type ChatUIMessage,
} from "./contract.ts"
import { storableText } from "./storable.ts"

export interface PostedMessage {
  /** The sender's own id for the message. */
  requestId: string
  text: string
  /** Ids of the user's own files. */
  fileIds?: string[]
  /** Files that are not stored yet. */
  files?: PostedFile[]
}

/** A message of a conversation that is not stored. */
export type ReadMessage = ReturnType<typeof readParts>

/**
 * What the model receives of the posted messages: the user's text and files, and the text of the
 * replies. A sender cannot write system messages or attach a file by the URL of another server: such
 * messages throw BadRequest. Everything but text is left out of earlier replies, so that nobody can invent the
 * results of tools.
 */
export async function readConversation(posted: unknown[]): Promise<ReadMessage[]> {
  const messages = await validate(posted)
  const read = messages.map(readParts)
  if (read.at(-1)?.role !== "user") throw new BadRequest("messages-not-ended-by-user")
  const count = read.reduce((sum, { fileIds, files }) => sum + fileIds.length + files.length, 0)
  if (count > FILES_LIMIT) throw new BadRequest("too-many-files-in-messages", { count, most: FILES_LIMIT })
  return read
}

/** The messages with the contents of their files. Throws as `attachFiles` does. */
export async function toModelMessages(
  scope: Scope<"db" | "blobs" | "log" | "thumbnailer" | "viewer">,
  messages: readonly ReadMessage[],
): Promise<ModelMessage[]> {
  const withFiles = createFileReader(scope, null)
  const modelMessages: ModelMessage[] = []
  for (const { role, text, fileIds, files } of messages.toReversed()) {
    if (role === "user") {
      const attached = await attachFiles(scope, fileIds, null)
      for (const file of files) attached.push(await decodeFile(file))
      refuseUnfit(attached)
      modelMessages.unshift({ role, content: await withFiles(text, attached) })
    } else if (text !== "") modelMessages.unshift({ role: "assistant", content: text })
  }
  return modelMessages
}

/** Files of all posted messages together. */
const FILES_LIMIT = 50

/** The last of the posted messages, which must be the user's. Throws BadRequest. */
export async function readPostedMessage(posted: unknown[]): Promise<PostedMessage> {
  const [message] = await validate(posted.slice(-1))
  if (message?.role !== "user") throw new BadRequest("messages-not-ended-by-user")
  if (!/^\P{Cc}{1,100}$/u.test(message.id)) {
    throw new BadRequest("message-id-unfit")
  }
  const { text, fileIds, files } = readParts(message)
  return { requestId: message.id, text, fileIds, files }
}

async function validate(posted: unknown[]) {
  if (posted.length === 0) throw new BadRequest("messages-empty")
  if (posted.length > MESSAGES_LIMIT) {
    throw new BadRequest("conversation-too-long", { count: posted.length, most: MESSAGES_LIMIT })
  }
  const validated = await safeValidateUIMessages<ChatUIMessage>({ messages: posted })
  if (!validated.success) {
    throw new BadRequest("message-not-ui-message")
  }
  return validated.data
}

function readParts({ role, parts }: ChatUIMessage) {
  if (role === "system") throw new BadRequest("message-role-unknown")
  const texts: string[] = []
  const fileIds: string[] = []
  const files: PostedFile[] = []
  for (const part of parts) {
    if (part.type === "text") texts.push(part.text)
    // Everything else in a reply is left out: the model gets its text.
    else if (role === "user" && part.type === "file") files.push(readFilePart(part))
    else if (role === "user") fileIds.push(readReference(part))
  }
  const text = storableText(texts.join("\n\n"))
  if (role === "user" && text.length > MESSAGE_LIMIT) {
    throw new BadRequest("message-too-long", { most: MESSAGE_LIMIT, length: text.length })
  }
  const count = fileIds.length + files.length
  if (count > ATTACHMENTS_LIMIT)
    throw new BadRequest("too-many-files-in-message", { most: ATTACHMENTS_LIMIT, count })
  if (role === "user" && text.trim() === "" && count === 0) throw new BadRequest("message-empty")
  return { role, text, fileIds, files }
}

function readReference(part: ChatUIMessage["parts"][number]): string {
  if (part.type !== "data-file") {
    throw new BadRequest("message-part-not-file", { type: quoteType(part) })
  }
  const reference = v.safeParse(FileReference, part.data)
  if (!reference.success) throw new BadRequest("attachment-unknown")
  return reference.output.fileId
}

function quoteType({ type }: { type: string }) {
  return JSON.stringify(type.slice(0, 100))
}
