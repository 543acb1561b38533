import type { ServerResponse } from "node:http"
import type { ModelRequest } from "./model-server.ts"

/** What a model server refuses, and how it says so. */
export interface Fault {
  /** What the message has that is refused. `nothing`: any message, once. */
  at: "image" | "length" | "words" | "nothing" | "tools"
  /** The HTTP status; 200 for an error in the stream. */
  status: number
  says: string
}

const json = (message: string, more: object = {}) => JSON.stringify({ error: { message, ...more } })

/** Errors as model servers send them. */
export const FAULTS: Fault[] = [
  // Context
  {
    at: "length",
    status: 400,
    says: json(
      "This model's maximum context length is 4096 tokens. However, your messages resulted in 9371 tokens. Please reduce the length of the messages.",
      { type: "invalid_request_error", param: "messages", code: "context_length_exceeded" },
    ),
  }, // OpenAI, Azure
  {
    at: "length",
    status: 400,
    says: json(
      "This endpoint's maximum context length is 4096 tokens. However, you requested about 9310 tokens (9310 of text input).",
      { code: 400 },
    ),
  }, // OpenRouter
  {
    at: "length",
    status: 400,
    says: JSON.stringify({
      object: "error",
      message:
        "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens in the messages, Please reduce the length of the messages.",
      type: "BadRequestError",
      code: 400,
    }),
  }, // vLLM
  {
    at: "length",
    status: 400,
    says: json("the request exceeds the available context size, try increasing it", {
      code: 400,
      type: "exceed_context_size_error",
      n_prompt_tokens: 9000,
      n_ctx: 4096,
    }),
  }, // llama.cpp
  {
    at: "length",
    status: 200,
    says: json(
      "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
    ),
  }, // LM Studio
  {
    at: "length",
    status: 400,
    says: JSON.stringify({
      object: "error",
      message:
        "Prompt contains 9000 tokens and 0 draft tokens, too large for model with 4096 maximum context length",
      type: "invalid_request_error",
      code: "3051",
    }),
  }, // Mistral
  {
    at: "length",
    status: 400,
    says: JSON.stringify({
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 9000 tokens > 4096 maximum" },
    }),
  }, // Anthropic
  {
    at: "length",
    status: 400,
    says: JSON.stringify([
      {
        error: {
          code: 400,
          message: "The input token count (9000) exceeds the maximum number of tokens allowed (4096).",
          status: "INVALID_ARGUMENT",
        },
      },
    ]),
  }, // Google
  { at: "length", status: 413, says: "<html><h1>413 Request Entity Too Large</h1></html>" }, // nginx
  { at: "length", status: 500, says: json("Context size has been exceeded.", { code: 500 }) }, // llama.cpp
  // Images
  {
    at: "image",
    status: 500,
    says: json(
      "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
      { code: 500, type: "server_error" },
    ),
  }, // llama.cpp
  { at: "image", status: 404, says: json("No endpoints found that support image input", { code: 404 }) }, // OpenRouter
  { at: "image", status: 400, says: json("m is not a multimodal model", { type: "BadRequestError" }) }, // vLLM
  {
    at: "image",
    status: 400,
    says: json("Invalid content type. image_url is only supported by certain models.", {
      type: "invalid_request_error",
    }),
  }, // OpenAI
  {
    at: "image",
    status: 422,
    says: "Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text` at line 1 column 120",
  }, // DeepSeek
  { at: "image", status: 400, says: json("Model does not support images. Please use a model that does.") }, // LM Studio
  {
    at: "image",
    status: 400,
    says: JSON.stringify({
      type: "error",
      error: { type: "invalid_request_error", message: "Could not process image" },
    }),
  }, // Anthropic
  {
    at: "image",
    status: 400,
    says: json("Unable to process input image. Please retry", { status: "INVALID_ARGUMENT" }),
  }, // Google
  { at: "image", status: 400, says: json("bad request") },
  { at: "image", status: 500, says: "Internal Server Error" },
  // Content
  {
    at: "words",
    status: 400,
    says: json(
      "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
      { code: "content_filter" },
    ),
  }, // Azure
  {
    at: "words",
    status: 403,
    says: json("m requires moderation on OpenInference. Your input was flagged for violence.", { code: 403 }),
  }, // OpenRouter
  { at: "words", status: 400, says: json("Content Exists Risk", { type: "invalid_request_error" }) }, // DeepSeek
  { at: "words", status: 400, says: json("Invalid request.") },
  {
    at: "words",
    status: 500,
    says: json("Conversation roles must alternate user/assistant/user/assistant/..."),
  }, // a chat template
  // Tools
  {
    at: "tools",
    status: 400,
    says: json("registry.ollama.ai/library/gemma3:4b does not support tools", { type: "api_error" }),
  }, // Ollama
  { at: "tools", status: 404, says: json("No endpoints found that support tool use.", { code: 404 }) }, // OpenRouter
  {
    at: "tools",
    status: 400,
    says: JSON.stringify({
      object: "error",
      message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
      type: "BadRequestError",
      code: 400,
    }),
  }, // vLLM
  { at: "tools", status: 500, says: json("tools param requires --jinja flag", { code: 500 }) }, // llama.cpp
  { at: "tools", status: 400, says: json("Function calling is not enabled for models/gemma-3-27b-it") }, // Google
  // What passes, or what the operator fixes
  {
    at: "nothing",
    status: 429,
    says: json("Rate limit reached for requests", { code: "rate_limit_exceeded" }),
  },
  {
    at: "nothing",
    status: 529,
    says: JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
  }, // Anthropic
  { at: "nothing", status: 401, says: json("Incorrect API key provided", { code: "invalid_api_key" }) },
  {
    at: "nothing",
    status: 402,
    says: json("This request requires more credits, or fewer max_tokens.", { code: 402 }),
  }, // OpenRouter
  {
    at: "nothing",
    status: 404,
    says: json("The model `m` does not exist or you do not have access to it.", { code: "model_not_found" }),
  },
  { at: "nothing", status: 502, says: "<html><h1>502 Bad Gateway</h1></html>" },
]

/** Words that a server with a fault at `words` refuses. */
export const REFUSED_WORDS = "the forbidden words"

/** Characters of a text that is too long for a server with a fault at `length`. */
export const TOO_LONG = 12_000

/** Whether a server with this fault refuses the request. */
export function refuses({ at }: Fault, { body }: ModelRequest): boolean {
  const said = JSON.stringify(body["messages"])
  if (at === "image") return said.includes("image_url")
  if (at === "length") return said.length > TOO_LONG
  if (at === "words") return said.includes(REFUSED_WORDS)
  return at === "tools" && "tools" in body
}

export function sendFault({ status, says }: Fault, response: ServerResponse): void {
  if (status === 200) {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.end(`data: ${says}\n\n`)
    return
  }
  const type = says.startsWith("<") ? "text/html" : "application/json"
  response.writeHead(status, { "content-type": type, "retry-after": "0" }).end(says)
}
