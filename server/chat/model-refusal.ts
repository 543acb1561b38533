import { APICallError } from "ai"

/**
 * Why a model server refused a request:
 *
 * - `context`, `output`: too long for the model, or a longer reply allowed than it can write;
 * - `images`, `image`: the model receives none, or this one is unreadable;
 * - `tools`: the model has none;
 * - `content`: a filter withheld it;
 * - `busy`: it may be repeated later;
 * - `key`, `unpaid`, `model`, `redirect`: the operator's settings;
 * - `request`: refused for a reason that is not known here;
 * - `failed`: no refusal, but a failure.
 */
export type Cause = "busy" | "failed" | "request" | Operators | Recognised

type Operators = "key" | "unpaid" | "model" | "redirect"
type Recognised = "content" | "context" | "image" | "images" | "output" | "tools"

/** What the request contained: nothing is refused for what it did not contain. */
interface Sent {
  images: boolean
  tools: boolean
}

export interface Refusal {
  cause: Cause
  /** Undefined for an error in a stream. */
  status: number | undefined
  /** Tokens: the limit that the server stated for `context` or `output`. */
  limit: number | null
}

export function readRefusal(error: unknown, sent: Sent): Refusal {
  const status = APICallError.isInstance(error) ? error.statusCode : undefined
  const text = textOf(error)
  const cause = findCause(status, text, sent)
  const limits = cause === "context" ? CONTEXT_LIMITS : cause === "output" ? OUTPUT_LIMITS : []
  return { cause, status, limit: readLimit(text, limits) }
}

function findCause(status: number | undefined, text: string, sent: Sent): Cause {
  if (status !== undefined && status >= 300 && status < 400) return "redirect"
  if (status === 401) return "key"
  if (status === 402 || /insufficient[_ ](quota|balance|credits)/i.test(text)) return "unpaid"
  const recognised = RECOGNISED.find(
    ({ cause, texts }) =>
      (cause !== "tools" || sent.tools) &&
      ((cause !== "images" && cause !== "image") || sent.images) &&
      texts.some((one) => one.test(text)),
  )
  if (recognised) return recognised.cause
  if (MODEL_MISSING.test(text)) return "model"
  if (status === 403) return "key"
  if (status === 404) return "model"
  if (status === 413) return "context"
  if (status === 429 || status === 503 || status === 529 || BUSY.test(text)) return "busy"
  if (status !== undefined && status >= 400 && status < 500 && ![408, 409, 425].includes(status))
    return "request"
  return "failed"
}

/** Characters: a server may repeat the whole request in its error. */
const READ = 4000

/** The error's text, from a response or from an event in a stream. */
function textOf(error: unknown): string {
  if (APICallError.isInstance(error)) return `${error.message}\n${error.responseBody?.slice(0, READ) ?? ""}`
  if (error instanceof Error) return error.message.slice(0, READ)
  return (typeof error === "string" ? error : (JSON.stringify(error) ?? "")).slice(0, READ)
}

function readLimit(text: string, limits: readonly RegExp[]): number | null {
  for (const limit of limits) {
    const [, digits] = limit.exec(text) ?? []
    if (digits !== undefined) return Number(digits.replaceAll(/[,_]/g, ""))
  }
  return null
}

/** What model servers say, the more specific first. Each line names those that say it. */
const RECOGNISED: { cause: Recognised; texts: RegExp[] }[] = [
  {
    cause: "tools",
    texts: [
      /does(?:n't| not) support (?:\w+ )?(?:tools?|functions?)\b/i, // Ollama, Azure, DeepSeek
      /support(?:s|ing)? tool (?:use|calling)/i, // OpenRouter
      /--enable-auto-tool-choice|--tool-call-parser/i, // vLLM
      /tools? (?:param|call)\w* requires? --jinja/i, // llama.cpp
      /(?:tool|function)s?[ _]?(?:use|calls?|calling)?[`'"]? (?:is|are) not (?:supported|enabled|available|allowed)/i, // Groq, Google, Mistral, OpenAI
      /(?:unsupported|unknown|unrecognized)[^]{0,60}\b(?:tools|tool_choice|functions)\b/i, // OpenAI, TGI
      /\b(?:tools|tool_choice)\b[^]{0,60}(?:extra inputs are not permitted|extra fields not permitted)/i, // FastAPI
    ],
  },
  {
    cause: "image",
    texts: [
      /could not process image|unable to process input image|invalid[_ ]image|failed to (?:load|decode|process) (?:the )?image/i, // Anthropic, Google, OpenAI, llama.cpp
      /image exceeds|image (?:size|dimensions?)[^]{0,40}(?:exceed|too large|larger)/i, // Anthropic
      /unsupported image|image (?:format|type)[^]{0,40}(?:unsupported|not supported)/i, // OpenAI
    ],
  },
  {
    cause: "images",
    texts: [
      /does(?:n't| not) support (?:\w+ ){0,2}(?:images?|vision|multimodal)\b/i, // LM Studio, Ollama
      /(?:images?|vision|image[_ ](?:input|url|content))s?[`'"]? (?:is|are) (?:not supported|only supported by)/i, // llama.cpp, OpenAI, Mistral
      /support(?:s|ing)? image input/i, // OpenRouter
      /not a multimodal model|at most 0 image/i, // vLLM
      /missing data required for image input/i, // Ollama
      /unknown variant [`'"]?image_url|image_url[^]{0,40}(?:expected|not permitted|invalid|unsupported)/i, // DeepSeek
      /content(?:[`'"]| field)* must be a string/i, // Groq
    ],
  },
  {
    cause: "output",
    texts: [
      /(?:max|maximum)_(?:completion_|output_|new_)?tokens[^]{0,80}(?:too large|supports? at most|must be (?:less|<=)|at most)/i, // OpenAI, Groq
      /max_tokens: \d+ > \d+/i, // Anthropic
      /invalid max_tokens value|range of max_tokens/i, // DeepSeek, Qwen
    ],
  },
  {
    cause: "context",
    texts: [
      /context[_ ]length[_ ]exceeded|exceed_context_size|context (?:size|length|window)[^]{0,30}exceed/i, // OpenAI, llama.cpp
      /maximum (?:context|model|prompt|input)[ _]length|max_model_len/i, // OpenAI, OpenRouter, vLLM, xAI
      /exceeds? (?:the )?(?:available |model'?s? |maximum )?context/i, // llama.cpp, OpenAI
      /context (?:the )?overflows|greater than the context length|n_keep[^]{0,30}n_ctx/i, // LM Studio
      /prompt (?:is )?too long|input is too long|input length and `?max_tokens`? exceed/i, // Anthropic, Bedrock, Ollama
      /input token count[^]{0,40}exceeds|inputs? tokens? \+? ?max_new_tokens/i, // Google, TGI
      /too large for model with/i, // Mistral
      /reduce the length of|request too large|request_too_large|too many tokens|token limit/i, // Groq, Anthropic
    ],
  },
  {
    cause: "content",
    texts: [
      /content[_ ](?:filter|management policy|policy_violation)/i, // Azure, OpenAI
      /flagged|moderation|safety (?:system|policy|reasons)|usage (?:policy|policies)|prohibited[_ ]content/i, // OpenAI, OpenRouter, Google
      /content exists risk|data_inspection_failed|inappropriate content|sensitive content/i, // DeepSeek, Qwen
    ],
  },
]

const MODEL_MISSING =
  /model_not_found|deployment_?not_?found|no models? (?:is |are )?loaded|not a valid model|\bmodel\b[^]{0,120}(?:does not exist|not found)/i

const BUSY = /rate[_ ]limit|overloaded|too many requests|currently loading|at capacity/i

const CONTEXT_LIMITS = [
  /context length (?:is|of)(?: only)? ([\d,]+)/i, // OpenAI, OpenRouter, vLLM, LM Studio
  /context (?:size|window|length)[^\d]{0,20}\(?([\d,]+)/i, // llama.cpp
  /"?n_ctx"?[^\d]{0,6}(\d+)/, // llama.cpp, LM Studio
  /> ([\d,]+) maximum/i, // Anthropic
  /tokens allowed \(([\d,]+)/i, // Google
  /prompt length is ([\d,]+)/i, // xAI
  /model with ([\d,]+) maximum/i, // Mistral
]

const OUTPUT_LIMITS = [/at most ([\d,]+)/i, /\d+ > ([\d,]+)/, /\[1, ?([\d,]+)\]/, /<= ?[`'"]?([\d,]+)/]
