import { wrapLanguageModel } from "ai"
import type { Model } from "#server/ports/model.ts"
import type { Tracing } from "#server/ports/tracing.ts"

/** The same model, with its calls traced: their duration, but not their text. */
export function traceModel(model: Model, tracing: Tracing): Model {
  const attributes = { "gen_ai.operation.name": "chat", "gen_ai.request.model": model.name }
  return {
    ...model,
    open() {
      const opened = model.open()
      if (typeof opened === "string" || opened.specificationVersion !== "v4") return opened
      return wrapLanguageModel({
        model: opened,
        middleware: {
          specificationVersion: "v4",
          wrapGenerate: ({ doGenerate }) =>
            tracing.part(`chat ${model.name}`, attributes, async () => doGenerate()),
          async wrapStream({ doStream, params }) {
            const done = tracing.begin(`chat ${model.name}`, attributes)
            params.abortSignal?.addEventListener("abort", () => done(), { once: true })
            const result = await Promise.resolve(doStream()).catch((error: unknown) => {
              done(error)
              throw error
            })
            const untilEnd = new TransformStream({ flush: () => done() })
            return { ...result, stream: result.stream.pipeThrough(untilEnd) }
          },
        },
      })
    },
  }
}
