import * as v from "valibot"
import { ThreadRow } from "#server/chat/contract.ts"
import { ChatRequest, Taken } from "#server/chat/request.ts"
import { Entry, ReplacedEntry } from "#server/chat/read-operations.ts"
import {
  type Answer,
  idParameter,
  jsonAnswer,
  jsonBody,
  type PathItem,
  RATE_LIMIT_HEADERS,
  refusal,
  SIGNED_IN,
  TOO_MANY_HEADERS,
} from "./parts.ts"

const model = {
  "X-AI-Model": {
    required: true,
    description: "The configured model.",
    schema: { type: "string", minLength: 1 },
  },
}
const COUNTED = { ...RATE_LIMIT_HEADERS, ...model }

const notFound = refusal("There is no such conversation, or it is not yours.")
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
          Taken,
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
        "507": refusal(
          "A file in the message would exceed the quota of the person or of the space's owner.",
          COUNTED,
        ),
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
}

function exported(): Answer {
  const { content } = jsonAnswer(
    "",
    v.strictObject({ thread: ThreadRow, messages: v.array(Entry), replaced: v.array(ReplacedEntry) }),
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
