import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { APICallError, wrapLanguageModel, type LanguageModel } from "ai"
import type { Model } from "#server/ports/model.ts"
import { mergeDeltas } from "./merge-deltas.ts"
import { createModelFetch } from "./model-fetch.ts"
import { createReplyBounds } from "./reply-bounds.ts"
import { createTagReader } from "./think-tags.ts"

type Gateway =
  | { kind: "missing" }
  | { kind: "development"; key: string; baseUrl: string }
  | { kind: "remote"; key: string; baseUrl: string; api: "chat" | "responses" }

/**
 * The model `name` behind any gateway that implements OpenAI's `/chat/completions` or, if
 * configured, `/responses`.
 */
export function openGatewayModel({ gateway, name }: { gateway: Gateway; name: string }): Model {
  // Created once for all replies: a provider's setup takes as long as a short reply.
  const connected = gateway.kind === "missing" ? null : connect(gateway, name)
  return {
    name,
    available: gateway.kind !== "missing",
    isDevelopment: gateway.kind === "development",
    open() {
      if (!connected) throw new Error("AI_GATEWAY_API_KEY is missing, so there is no model to open.")
      return connected
    },
  }
}

function connect(gateway: Exclude<Gateway, { kind: "missing" }>, name: string): LanguageModel {
  const limit = createOutputLimit()
  return wrapLanguageModel({
    model: openProvider(gateway, name, limit.name),
    middleware: {
      specificationVersion: "v4",
      wrapGenerate: ({ doGenerate }) => limit.learn(async () => doGenerate()),
      async wrapStream({ doStream }) {
        const { stream, ...rest } = await limit.learn(async () => doStream())
        const [tags, bounds] = [createTagReader(), createReplyBounds()]
        return { ...rest, stream: mergeDeltas(stream, (part) => tags.read(part).flatMap(bounds.read)) }
      },
    },
  })
}

function openProvider(
  gateway: Exclude<Gateway, { kind: "missing" }>,
  name: string,
  transformRequestBody: (body: RequestBody) => RequestBody,
) {
  const settings = { baseURL: gateway.baseUrl, apiKey: gateway.key, fetch: createModelFetch() }
  if (gateway.kind === "remote" && gateway.api === "responses") return createOpenAI(settings).responses(name)
  // Not the OpenAI provider: it drops `reasoning_content`, and treats a reply that breaks off as
  // complete.
  const provider = { ...settings, name: "gateway", includeUsage: true, transformRequestBody }
  return createOpenAICompatible(provider).chatModel(name)
}

type RequestBody = Record<string, unknown>

/**
 * Names the output limit as the model server expects it. Newer OpenAI models refuse `max_tokens`
 * and require `max_completion_tokens`, and only the server knows which model a name refers to, so
 * its refusal decides.
 */
function createOutputLimit() {
  let isNewer = false
  return {
    name({ max_tokens: limit, ...body }: RequestBody): RequestBody {
      return { ...body, [isNewer ? "max_completion_tokens" : "max_tokens"]: limit }
    },
    async learn<Result>(ask: () => Promise<Result>): Promise<Result> {
      try {
        return await ask()
      } catch (error) {
        const wantsNewer =
          APICallError.isInstance(error) &&
          error.statusCode === 400 &&
          error.responseBody?.includes("max_completion_tokens")
        if (isNewer || !wantsNewer) throw error
        isNewer = true
        return ask()
      }
    },
  }
}
