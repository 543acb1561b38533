import * as v from "valibot"
import { ChangeThread, CreateThread, SEARCH_LIMIT } from "#server/chat/contract.ts"
import { ChatRequest } from "#server/chat/request.ts"
import { RecallRows } from "#db/schema/chat-json.ts"
import { record } from "#server/operations/contract.ts"
import {
  type Answer,
  idParameter,
  jsonAnswer,
  jsonBody,
  pageParameters,
  type PathItem,
  RATE_LIMIT_HEADERS,
  refusal,
  SIGNED_IN,
  TOO_MANY_HEADERS,
  everywhere,
} from "./parts.ts"

const Thread = v.strictObject({
  ...record,
  title: v.string(),
  lastMessageAt: v.pipe(v.number(), v.integer()),
  spaceId: v.pipe(
    v.nullable(v.pipe(v.string(), v.uuid())),
    v.description("The space that it is in. Null for a personal conversation."),
  ),
  peopleOnly: v.pipe(
    v.boolean(),
    v.description("In a space: the model replies only to messages that name it."),
  ),
  messageCount: v.pipe(
    v.number(),
    v.integer(),
    v.description("How many messages were ever stored in it. It never shrinks."),
  ),
})

const Turn = v.strictObject({
  status: v.picklist(["running", "completed", "stopped", "timeout", "interrupted", "failed"]),
  model: v.string(),
  parts: v.nullable(v.array(v.looseObject({ type: v.picklist(["text", "reasoning", "tool"]) }))),
  failure: v.nullable(v.string()),
  finishReason: v.pipe(
    v.nullable(v.picklist(["stop", "length", "content-filter", "tool-calls", "error", "other"])),
    v.description("Why the model ended its answer. Null while it runs, and where something else ended it."),
  ),
  inputTokens: v.nullable(v.number()),
  outputTokens: v.nullable(v.number()),
  recall: v.nullable(RecallRows),
})

const Said = {
  ...record,
  userId: v.pipe(
    v.string(),
    v.uuid(),
    v.description("Who wrote the message, or asked for the reply. `spaces.members` has their name."),
  ),
  role: v.picklist(["user", "assistant"]),
  content: v.string(),
  attachments: v.pipe(
    v.nullable(
      v.array(
        v.strictObject({
          fileId: v.pipe(v.string(), v.uuid()),
          fileName: v.string(),
          mimeType: v.string(),
          size: v.pipe(v.number(), v.integer(), v.description("Bytes.")),
        }),
      ),
    ),
    v.description("A question's files as they were when it was asked. They may be gone since."),
  ),
  turn: v.pipe(v.nullable(Turn), v.description("How an answer came about; null for a question.")),
}

const Message = v.strictObject({
  ...Said,
  edited: v.pipe(v.boolean(), v.description("A question or reply that replaced another, which is kept.")),
  requestId: v.pipe(v.nullable(v.string()), v.description("The sender's own id of the question.")),
  mentions: v.pipe(
    v.nullable(v.array(v.string())),
    v.description("The names after an @ that were members' of the space. Null if there are none."),
  ),
})

const ReplacedMessage = v.strictObject({
  ...Said,
  turn: v.pipe(v.nullable(v.omit(Turn, ["recall"])), v.description("As of a message.")),
  replacedAt: v.pipe(
    v.number(),
    v.integer(),
    v.description("When it was replaced. Messages with the same value were removed together."),
  ),
})

const Asked = v.strictObject({
  threadId: v.pipe(v.string(), v.uuid()),
  questionId: v.pipe(v.string(), v.uuid()),
  answerId: v.pipe(v.string(), v.uuid(), v.description("The answer's message and its turn.")),
})

const Stored = v.strictObject({
  threadId: v.pipe(v.string(), v.uuid()),
  questionId: v.pipe(v.string(), v.uuid()),
  answerId: v.pipe(v.null(), v.description("The message is to the people in a space: it asks nobody.")),
})

const Waits = v.strictObject({
  threadId: v.pipe(v.string(), v.uuid()),
  waitingId: v.pipe(v.string(), v.uuid()),
  ahead: v.pipe(
    v.number(),
    v.integer(),
    v.description("How many messages wait before it, besides the one that is being replied to."),
  ),
})

const WaitingMessage = v.strictObject({
  ...record,
  userId: v.pipe(v.string(), v.uuid(), v.description("Who wrote it.")),
  requestId: v.pipe(v.string(), v.description("The sender's own id of the message.")),
  place: v.pipe(v.number(), v.integer(), v.description("Messages are replied to in this order.")),
  content: v.string(),
  attachments: Said.attachments,
  state: v.pipe(
    v.picklist(["waiting", "withdrawn", "passed"]),
    v.description(
      "`withdrawn` by somebody else than its author, or `passed` over because its author may no longer write here. These two are kept for an hour.",
    ),
  ),
})

const SearchResult = v.strictObject({
  thread: Thread,
  messageId: v.pipe(
    v.nullable(v.pipe(v.string(), v.uuid())),
    v.description("The latest message that was found; null where only the title was."),
  ),
  snippet: v.strictObject({
    text: v.pipe(v.string(), v.description("Plain text.")),
    matches: v.pipe(
      v.array(v.tuple([v.pipe(v.number(), v.integer()), v.pipe(v.number(), v.integer())])),
      v.description("What was found in the text, from and up to, in UTF-16 units."),
    ),
  }),
})

const model = {
  "X-AI-Model": {
    required: true,
    description: "The configured model.",
    schema: { type: "string", minLength: 1 },
  },
}
const COUNTED = { ...RATE_LIMIT_HEADERS, ...model }

export const oneThread = jsonAnswer("The conversation.", v.strictObject({ thread: Thread }))
const notFound = refusal("There is no such conversation, or it is not yours.")
const readerOnly = refusal("You may only read in the space.")
const noSpace = refusal("There is no such space, or you are not a member of it.")
const spaceId = {
  name: "spaceId",
  in: "query",
  description: "The space. Without it, what is personal to the caller.",
  schema: { type: "string", format: "uuid" },
} as const
const badBody = refusal("The body is not JSON, or not as described.")
const tooLarge = refusal("The body is larger than 256 KB.")
const threadId = idParameter("threadId")
const common = { tags: ["Chat"], security: SIGNED_IN }

export const chatPaths: Record<string, PathItem> = {
  "/api/chat": {
    post: {
      ...common,
      operationId: "askQuestion",
      summary: "Stream an answer",
      description:
        "Answers the last message as a UI message stream. With `threadId` the conversation is stored, and the answer goes on when its reader goes away; without it nothing is stored. With `Prefer: respond-async` besides, the ids come at once and the answer grows in the records alone. Limited per user and address, 20 requests a minute, and 60 on the pro plan, unless configured otherwise, to three times as many answers for a user at all addresses, and to twenty times as many for a network; messages to the people in a space, which ask nobody, are counted apart from answers, with the same limits. A streamed answer takes 30 seconds at most, and others five minutes, unless configured otherwise.",
      parameters: [
        {
          name: "Prefer",
          in: "header",
          description:
            "`respond-async` asks not to wait for the answer; it is heard where `threadId` is given.",
          schema: { type: "string" },
        },
      ],
      requestBody: jsonBody(ChatRequest),
      responses: {
        "200": stream(COUNTED),
        "202": jsonAnswer(
          "The answer has begun, is there already, or waits for its turn; or there is none, because the message is to the people in a space.",
          v.union([Asked, Stored, Waits]),
          {
            ...COUNTED,
            "Preference-Applied": { required: true, schema: { const: "respond-async" } },
          },
        ),
        "400": refusal("The body is not JSON, or not { messages: UIMessage[] }.", COUNTED),
        "401": refusal("Nobody is signed in."),
        "403": refusal(
          "The conversation is in a space in which you may only read, or the message to edit is another person's to the people there.",
          COUNTED,
        ),
        "404": refusal(
          "There is no such conversation, or no such question to replace in it, or it is not yours.",
          COUNTED,
        ),
        "409": refusal(
          "The conversation is being answered already, or as many others as one user may have answered at once; or another person's message in it has the same id.",
          COUNTED,
        ),
        "413": refusal("The body is larger than 256 KB without its files, or than 32 MB.", COUNTED),
        "429": refusal("Too many requests, or too many large bodies at the same time.", {
          ...TOO_MANY_HEADERS,
          ...model,
        }),
        "500": refusal("AI_GATEWAY_API_KEY is not configured, or the question could not be taken.", COUNTED),
        "503": refusal("The database can't be reached.", COUNTED),
        "507": refusal("The plan of who pays for the place has no room for a file in the message.", COUNTED),
      },
    },
  },
  "/api/chat/threads": {
    get: {
      ...common,
      operationId: "listThreads",
      summary: "Your conversations, or those in a space, the last used first",
      parameters: [spaceId, ...pageParameters],
      responses: {
        "200": jsonAnswer(
          "A page.",
          v.strictObject({ threads: v.array(Thread), nextCursor: v.nullable(v.string()) }),
        ),
        "401": refusal("Nobody is signed in."),
        "404": noSpace,
      },
    },
    post: {
      ...common,
      operationId: "createThread",
      summary: "Begin a conversation",
      requestBody: jsonBody(CreateThread),
      responses: {
        "201": oneThread,
        "400": badBody,
        "401": refusal("Nobody is signed in."),
        "403": readerOnly,
        "404": noSpace,
        "413": tooLarge,
      },
    },
  },
  "/api/chat/threads/{threadId}": {
    get: {
      ...common,
      operationId: "getThread",
      summary: "A conversation",
      parameters: [threadId],
      responses: { "200": oneThread, "401": refusal("Nobody is signed in."), "404": notFound },
    },
    patch: {
      ...common,
      operationId: "changeThread",
      summary: "Give a conversation another title, or set in a space that it is for people only",
      parameters: [threadId],
      requestBody: jsonBody(ChangeThread),
      responses: {
        "200": oneThread,
        "400": badBody,
        "401": refusal("Nobody is signed in."),
        "403": readerOnly,
        "404": notFound,
        "409": refusal("A personal conversation can't be for people only."),
        "413": tooLarge,
      },
    },
    delete: {
      ...common,
      operationId: "removeThread",
      summary: "Move a conversation into the trash",
      description: "It can be restored for a day. An answer that is being given in it stops.",
      parameters: [threadId],
      responses: {
        "204": { description: "It is in the trash." },
        "401": refusal("Nobody is signed in."),
        "403": readerOnly,
        "404": notFound,
      },
    },
  },
  "/api/chat/threads/{threadId}/restore": {
    post: {
      ...common,
      operationId: "restoreThread",
      summary: "Take a conversation out of the trash",
      parameters: [threadId],
      responses: {
        "200": oneThread,
        "401": refusal("Nobody is signed in."),
        "403": readerOnly,
        "404": notFound,
      },
    },
  },
  "/api/chat/threads/{threadId}/export": {
    get: {
      ...common,
      operationId: "exportThread",
      summary: "A whole conversation as a file",
      parameters: [
        threadId,
        { name: "format", in: "query", schema: { enum: ["markdown", "json"], default: "markdown" } },
      ],
      responses: {
        "200": exported(),
        "400": refusal("There is no such format."),
        "401": refusal("Nobody is signed in."),
        "404": notFound,
      },
    },
  },
  "/api/chat/search": {
    get: {
      ...common,
      operationId: "searchThreads",
      summary: "Find conversations by their titles and messages",
      description:
        "All words must be there; the last may be the beginning of one. One result for each conversation, the last used first, at most 50.",
      parameters: [
        { name: "q", in: "query", schema: { type: "string", maxLength: SEARCH_LIMIT } },
        spaceId,
        everywhere,
      ],
      responses: {
        "200": jsonAnswer("What was found.", v.strictObject({ results: v.array(SearchResult) })),
        "400": refusal("The search is too long."),
        "401": refusal("Nobody is signed in."),
        "404": noSpace,
      },
    },
  },
  "/api/chat/threads/{threadId}/messages": {
    get: {
      ...common,
      operationId: "listMessages",
      summary: "The latest messages of a conversation, or those before the cursor",
      parameters: [threadId, ...pageParameters],
      responses: {
        "200": jsonAnswer(
          "A page, oldest first.",
          v.strictObject({ entries: v.array(Message), earlierCursor: v.nullable(v.string()) }),
        ),
        "401": refusal("Nobody is signed in."),
        "404": notFound,
      },
    },
  },
  "/api/chat/threads/{threadId}/messages/{messageId}/replaced": {
    get: {
      ...common,
      operationId: "listReplacedMessages",
      summary: "What an edited question or a new reply replaced",
      description: "The earlier versions of the message and of everything after it.",
      parameters: [threadId, idParameter("messageId"), ...pageParameters],
      responses: {
        "200": jsonAnswer(
          "A page, oldest first.",
          v.strictObject({ entries: v.array(ReplacedMessage), earlierCursor: v.nullable(v.string()) }),
        ),
        "401": refusal("Nobody is signed in."),
        "404": refusal("The caller has no such conversation, or the message replaced nothing."),
      },
    },
  },
  "/api/chat/{threadId}/stream": {
    get: {
      ...common,
      operationId: "resumeAnswer",
      summary: "Follow the reply that is being generated, from its first word",
      description:
        "Whichever process generates it. This is where the AI SDK's `resumeStream()` asks, with the conversation's id as the chat's.",
      parameters: [threadId],
      responses: {
        "200": stream({}),
        "204": { description: "No reply is being generated." },
        "401": refusal("Nobody is signed in."),
        "404": notFound,
        "409": refusal("You are following too many replies."),
      },
    },
  },
  "/api/chat/threads/{threadId}/waiting": {
    get: {
      ...common,
      operationId: "listWaitingMessages",
      summary: "List the messages that wait in a conversation",
      description: "The first in line first. One whose reply has begun is among the messages.",
      parameters: [threadId],
      responses: {
        "200": jsonAnswer("Those that wait.", v.strictObject({ waiting: v.array(WaitingMessage) })),
        "401": refusal("Nobody is signed in."),
        "404": notFound,
      },
    },
  },
  "/api/chat/waiting/{waitingId}": {
    delete: {
      ...common,
      operationId: "withdrawMessage",
      summary: "Withdraw a waiting message",
      description: "Your own is deleted. That of somebody else stays for its author, as withdrawn.",
      parameters: [idParameter("waitingId")],
      responses: {
        "204": { description: "It is withdrawn." },
        "401": refusal("Nobody is signed in."),
        "403": readerOnly,
        "404": refusal("There is no such message, its reply has begun, or it is not yours to see."),
      },
    },
  },
  "/api/chat/threads/{threadId}/stop": {
    post: {
      ...common,
      operationId: "stopAnswer",
      summary: "Stop generating that is being written",
      description: "Wherever it is written. Answers when it is over, with what was said so far stored.",
      parameters: [threadId],
      responses: {
        "200": jsonAnswer("Whether there was one.", v.strictObject({ stopped: v.boolean() })),
        "401": refusal("Nobody is signed in."),
        "403": readerOnly,
        "404": notFound,
      },
    },
  },
}

function exported(): Answer {
  const { content } = jsonAnswer(
    "",
    v.strictObject({ thread: Thread, messages: v.array(Message), replaced: v.array(ReplacedMessage) }),
  )
  return {
    description: "The file, the oldest message first.",
    headers: {
      "Content-Disposition": {
        required: true,
        description: "Its name, made of the title.",
        schema: { type: "string", pattern: "^attachment; " },
      },
    },
    content: { "text/markdown": { schema: { type: "string" } }, ...content },
  }
}

function stream(counted: Answer["headers"]): Answer {
  return {
    description: "Server-sent events, each a chunk of the UI message stream; the last is `[DONE]`.",
    headers: {
      ...counted,
      "x-vercel-ai-ui-message-stream": {
        required: true,
        description: "The protocol's version.",
        schema: { const: "v1" },
      },
    },
    content: { "text/event-stream": { schema: { type: "string" } } },
  }
}
