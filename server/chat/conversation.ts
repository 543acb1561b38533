import { getToolOrDynamicToolName, isToolUIPart, safeValidateUIMessages, type ModelMessage } from "ai"
import { BadRequest } from "../errors.ts"
import { MESSAGE_LIMIT, MESSAGES_LIMIT, type ChatUIMessage } from "./contract.ts"
import { storableText } from "./storable.ts"

export interface Question {
  /** The sender's own id for it. */
  requestId: string
  text: string
}

/**
 * The posted messages as the model may hear them: what the user wrote, and the words of the answers. A sender cannot speak
 * as the system, hand in a file by its address, or make up what a tool said: such messages throw BadRequest, and the tool
 * calls and thoughts of earlier answers are left out. `tools` are the names of the tools there are.
 */
export async function readConversation(posted: unknown[], tools: string[]): Promise<ModelMessage[]> {
  const messages = await validate(posted)
  const heard = messages.map((message) => ({ role: message.role, content: readText(message, tools) }))
  if (heard.at(-1)?.role !== "user") throw new BadRequest("The last message must be the user's.")
  return heard.filter(({ content }) => content !== "")
}

/** The last of the posted messages, which must be the user's. Throws BadRequest. */
export async function readQuestion(posted: unknown[]): Promise<Question> {
  const [message] = await validate(posted.slice(-1))
  if (message?.role !== "user") throw new BadRequest("The last message must be the user's.")
  if (!/^\P{Cc}{1,100}$/u.test(message.id)) {
    throw new BadRequest("A message's id must have 1 to 100 characters, and no control characters.")
  }
  return { requestId: message.id, text: readText(message, []) }
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

function readText({ role, parts }: ChatUIMessage, tools: string[]): string {
  if (role === "system") throw new BadRequest("A message's role must be user or assistant.")
  const texts: string[] = []
  for (const part of parts) {
    if (part.type === "text") texts.push(part.text)
    else if (role === "user")
      throw new BadRequest(`A user's message holds text alone; a part of type ${quoteType(part)} is refused.`)
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
  if (role === "user" && text.trim() === "") throw new BadRequest("A user's message has no text.")
  return text
}

function quoteType({ type }: { type: string }) {
  return JSON.stringify(type.slice(0, 100))
}
