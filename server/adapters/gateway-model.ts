import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import type { LanguageModel } from "ai"
import type { Model } from "#server/ports/model.ts"

type Gateway =
  | { kind: "missing" }
  | { kind: "development"; key: string; baseUrl: string }
  | { kind: "remote"; key: string; baseUrl: string; api: "chat" | "responses" }

/** The model `name` behind any gateway that speaks OpenAI's `/chat/completions` or, where asked for, `/responses`. */
export function openGatewayModel({ gateway, name }: { gateway: Gateway; name: string }): Model {
  return {
    name,
    available: gateway.kind !== "missing",
    isDevelopment: gateway.kind === "development",
    open() {
      if (gateway.kind === "missing")
        throw new Error("AI_GATEWAY_API_KEY is missing, so there is no model to open.")
      return connect(gateway, name)
    },
  }
}

function connect(gateway: Exclude<Gateway, { kind: "missing" }>, name: string): LanguageModel {
  const { baseUrl: baseURL, key: apiKey } = gateway
  if (gateway.kind === "remote" && gateway.api === "responses") {
    return createOpenAI({ baseURL, apiKey }).responses(name)
  }
  // Not the OpenAI provider: it drops `reasoning_content`, and takes an answer that breaks off for a finished one.
  return createOpenAICompatible({ name: "gateway", baseURL, apiKey, includeUsage: true }).chatModel(name)
}
