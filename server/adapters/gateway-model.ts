import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import type { LanguageModel } from "ai"
import type { Hear, Model } from "#server/ports/model.ts"
import { openListening } from "./overhear.ts"

type Gateway =
  | { kind: "missing" }
  | { kind: "development"; key: string; baseUrl: string }
  | { kind: "remote"; key: string; baseUrl: string; api: "chat" | "responses" }

/** The model `name` behind any gateway that speaks OpenAI's `/chat/completions` or, where asked for, `/responses`. */
export function openGatewayModel({ gateway, name }: { gateway: Gateway; name: string }): Model {
  const connected = gateway.kind === "missing" ? null : connect(gateway, name)
  return {
    name,
    available: gateway.kind !== "missing",
    isDevelopment: gateway.kind === "development",
    open(hear) {
      if (!connected) throw new Error("AI_GATEWAY_API_KEY is missing, so there is no model to open.")
      return connected(hear)
    },
  }
}

/** Once for all answers: what a provider prepares takes as long as a short answer does. */
function connect(
  gateway: Exclude<Gateway, { kind: "missing" }>,
  name: string,
): (hear: Hear | undefined) => LanguageModel {
  const { baseUrl: baseURL, key: apiKey } = gateway
  if (gateway.kind === "remote" && gateway.api === "responses") {
    const model = createOpenAI({ baseURL, apiKey }).responses(name)
    return () => model
  }
  const { fetch, listen } = openListening()
  // Not the OpenAI provider: it drops `reasoning_content`, and takes an answer that breaks off for a finished one.
  const provider = createOpenAICompatible({ name: "gateway", baseURL, apiKey, includeUsage: true, fetch })
  const model = provider.chatModel(name)
  return (hear) => (hear ? listen(model, hear) : model)
}
