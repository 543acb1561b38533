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

/** The response to one with `Prefer: respond-async`. Everything else is in the records. */
const Asked = v.strictObject({
  threadId: v.pipe(v.string(), v.uuid()),
  questionId: v.pipe(v.string(), v.uuid()),
  answerId: v.pipe(v.string(), v.uuid(), v.description("The answer's message and its turn.")),
})
export type Asked = v.InferOutput<typeof Asked>

const Stored = v.strictObject({
  ...Asked.entries,
  answerId: v.pipe(v.null(), v.description("The message is to the people in a space: it asks nobody.")),
})
export type Stored = v.InferOutput<typeof Stored>

/** It becomes a message, with ids of its own, when its reply begins. */
const Waits = v.strictObject({
  threadId: v.pipe(v.string(), v.uuid()),
  waitingId: v.pipe(v.string(), v.uuid()),
  ahead: v.pipe(
    v.number(),
    v.integer(),
    v.description("How many messages wait before it, besides the one that is being replied to."),
  ),
})
export type Waits = v.InferOutput<typeof Waits>

export const Taken = v.union([Asked, Stored, Waits])
export type Taken = v.InferOutput<typeof Taken>
