import { getToolOrDynamicToolName, isToolUIPart, safeValidateUIMessages, type ModelMessage } from "ai"
import * as v from "valibot"
import { BadRequest } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { attachFiles, createFileReader } from "./attachments.ts"
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
}

/**
 * The posted messages as the model receives them: the user's text and files, and the text of the
 * replies. A sender cannot write system messages, attach a file by URL, or invent tool results:
 * such messages throw BadRequest. Tool calls and reasoning of earlier replies are left out. `tools`
 * are the names of the existing tools.
 */
export async function readConversation(
  scope: Scope<"db" | "blobs" | "viewer">,
  posted: unknown[],
  tools: string[],
): Promise<ModelMessage[]> {
  const messages = await validate(posted)
  const read = messages.map((message) => readParts(message, tools))
  if (read.at(-1)?.role !== "user") throw new BadRequest("The last message must be the user's.")
  const files = read.reduce((sum, { fileIds }) => sum + fileIds.length, 0)
  if (files > FILES_LIMIT) {
    throw new BadRequest(`${files} files are too many: the messages can have ${FILES_LIMIT} together.`)
  }
  const withFiles = createFileReader(scope)
  const modelMessages: ModelMessage[] = []
  for (const { role, text, fileIds } of read.toReversed()) {
    if (role === "user") {
      modelMessages.unshift({ role, content: await withFiles(text, await attachFiles(scope, fileIds)) })
    } else if (text !== "") modelMessages.unshift({ role: "assistant", content: text })
  }
  return modelMessages
}

/** Files of all posted messages together. */
const FILES_LIMIT = 50

/** The last of the posted messages, which must be the user's. Throws BadRequest. */
export async function readPostedMessage(posted: unknown[]): Promise<PostedMessage> {
  const [message] = await validate(posted.slice(-1))
  if (message?.role !== "user") throw new BadRequest("The last message must be the user's.")
  if (!/^\P{Cc}{1,100}$/u.test(message.id)) {
    throw new BadRequest("A message's id must have 1 to 100 characters, and no control characters.")
  }
  const { text, fileIds } = readParts(message, [])
  return { requestId: message.id, text, fileIds }
}

async function validate(posted: unknown[]) {
  if (posted.length === 0) throw new BadRequest("messages is empty: send at least one message of the user.")
  if (posted.length > MESSAGES_LIMIT) {
    throw new BadRequest(`${posted.length} messages are too many: send the latest ${MESSAGES_LIMIT} at most.`)
  }
  const validated = await safeValidateUIMessages<ChatUIMessage>({ messages: posted })
  if (!validated.success) {
    throw new BadRequest(
      "Each message must be a UIMessage: { id: string, role: 'user' | 'assistant', parts: [...] }.",
    )
  }
  return validated.data
}

function readParts({ role, parts }: ChatUIMessage, tools: string[]) {
  if (role === "system") throw new BadRequest("A message's role must be user or assistant.")
  const texts: string[] = []
  const fileIds: string[] = []
  for (const part of parts) {
    if (part.type === "text") texts.push(part.text)
    else if (role === "user") fileIds.push(readReference(part))
    else if (isToolUIPart(part)) {
      const name = getToolOrDynamicToolName(part)
      if (!tools.includes(name))
        throw new BadRequest(`There is no tool called ${JSON.stringify(name.slice(0, 100))}.`)
    } else if (part.type !== "step-start" && part.type !== "reasoning") {
      throw new BadRequest(`A part of type ${quoteType(part)} is refused.`)
    }
  }
  const text = storableText(texts.join("\n\n"))
  if (text.length > MESSAGE_LIMIT) {
    throw new BadRequest(`A message can have ${MESSAGE_LIMIT} characters at most; one has ${text.length}.`)
  }
  if (fileIds.length > ATTACHMENTS_LIMIT) {
    throw new BadRequest(`A message can have ${ATTACHMENTS_LIMIT} files at most; one has ${fileIds.length}.`)
  }
  if (role === "user" && text.trim() === "" && fileIds.length === 0) {
    throw new BadRequest("A user's message has no text.")
  }
  return { role, text, fileIds }
}

function readReference(part: ChatUIMessage["parts"][number]): string {
  if (part.type !== "data-file") {
    throw new BadRequest(
      `A user's message holds text and their own files, as parts of type "data-file"; one of type ${quoteType(part)} is refused.`,
    )
  }
  const reference = v.safeParse(FileReference, part.data)
  if (!reference.success) throw new BadRequest("There is no file with this id.")
  return reference.output.fileId
}

function quoteType({ type }: { type: string }) {
  return JSON.stringify(type.slice(0, 100))
}
