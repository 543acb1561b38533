import * as v from "valibot"
import { InSpace } from "#server/spaces/place-contract.ts"

/**
 * The body of `POST /api/chat`. With a thread id the conversation is stored, and only the last
 * message is read.
 */
export const ChatRequest = v.object({
  messages: v.array(v.unknown()),
  threadId: v.nullish(v.string()),
  /**
   * The conversation begins with this message, under an id of the sender's own. One that exists
   * already is continued, so the request can be repeated.
   */
  createThread: v.optional(
    v.pipe(
      v.boolean(),
      v.description("Creates the conversation if there is none with this `threadId`, a UUID of your own."),
    ),
    false,
  ),
  /** Where `createThread` creates the conversation. */
  spaceId: InSpace,
  mayWait: v.optional(
    v.pipe(
      v.boolean(),
      v.description(
        "With `Prefer: respond-async`: while a reply is being generated, a new message waits for its turn instead of being refused.",
      ),
    ),
    false,
  ),
  ask: v.optional(
    v.pipe(
      v.boolean(),
      v.description(
        "In a space: asks the model although the message mentions a member or the conversation is for people only. For a message that is stored already, with its `id` and contents, the reply begins now.",
      ),
    ),
    false,
  ),
  /** `regenerate-message` asks for another reply to the last message. */
  trigger: v.fallback(v.optional(v.string()), undefined),
  /**
   * The AI SDK's name of the reply to regenerate, or of the message before it. What follows has left
   * the sender's page.
   */
  messageId: v.fallback(v.optional(v.string()), undefined),
  /**
   * This message replaces another of the conversation. The other and everything after it is kept as
   * an earlier version.
   */
  replaces: v.pipe(v.nullish(v.string()), v.description("The `_id` of a question of the conversation.")),
})
export type ChatRequest = v.InferOutput<typeof ChatRequest>
