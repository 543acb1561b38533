import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { wrapLanguageModel, type LanguageModel } from "ai"
import type { Model } from "#server/ports/model.ts"
import { mergeDeltas } from "./merge-deltas.ts"
import { createModelFetch } from "./model-fetch.ts"
import { createTagReader } from "./think-tags.ts"

type Gateway =
  | { kind: "missing" }
  | { kind: "development"; key: string; baseUrl: string }
  | { kind: "remote"; key: string; baseUrl: string; api: "chat" | "responses" }

/** The model `name` behind any gateway that speaks OpenAI's `/chat/completions` or, where asked for, `/responses`. */
export function openGatewayModel({ gateway, name }: { gateway: Gateway; name: string }): Model {
  // Once for all answers: what a provider prepares takes as long as a short answer does.
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
  return wrapLanguageModel({
    model: openProvider(gateway, name),
    middleware: {
      specificationVersion: "v4",
      async wrapStream({ doStream }) {
        const { stream, ...rest } = await doStream()
        return { ...rest, stream: mergeDeltas(stream, createTagReader().read) }
      },
    },
  })
}

function openProvider(gateway: Exclude<Gateway, { kind: "missing" }>, name: string) {
  const settings = { baseURL: gateway.baseUrl, apiKey: gateway.key, fetch: createModelFetch() }
  if (gateway.kind === "remote" && gateway.api === "responses") return createOpenAI(settings).responses(name)
  // Not the OpenAI provider: it drops `reasoning_content`, and takes an answer that breaks off for a finished one.
  return createOpenAICompatible({ ...settings, name: "gateway", includeUsage: true }).chatModel(name)
}
