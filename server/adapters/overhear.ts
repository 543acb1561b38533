import { AsyncLocalStorage } from "node:async_hooks"
import { wrapLanguageModel, type LanguageModel } from "ai"
import type { Hear } from "#server/ports/model.ts"
import { readCompletionEvent, type SaidText } from "./completion-event.ts"
import { createPace, tellAtPace, type Pace } from "./pace.ts"
import { splitEvents } from "./split-events.ts"

type ConnectedModel = Parameters<typeof wrapLanguageModel>[0]["model"]

/**
 * Lets others hear what a model says, through the `fetch` that its provider uses. What a delta costs is the stages of streams
 * that the SDK sends it through; so most go straight to who hears, and the provider gets a run of them as one delta when it is
 * over. The first of each run, and all that is more than text, passes as it is, and in order.
 */
export function openListening() {
  const listening = new AsyncLocalStorage<(response: Response) => Response>()
  const pace = createPace()
  return {
    async fetch(...request: Parameters<typeof fetch>): Promise<Response> {
      const response = await fetch(...request)
      return listening.getStore()?.(response) ?? response
    },
    /** The same model for one answer, whose streams `hear` follows. */
    listen(model: ConnectedModel, hear: Hear): LanguageModel {
      const overheard = overhear(hear, pace)
      return wrapLanguageModel({
        model,
        middleware: { wrapStream: ({ doStream }) => listening.run(overheard, doStream) },
      })
    },
  }
}

function overhear(hear: Hear, pace: Pace) {
  /** Characters that the provider was given or will be. Null once they cannot be counted. */
  let said: number | null = 0

  return (response: Response) => {
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream")
    if (!response.ok || !response.body || !isStream) return response
    return new Response(divert(response.body), { status: response.status, headers: response.headers })
  }

  function divert(source: ReadableStream<Uint8Array>) {
    const reader = source.getReader()
    const leave = pace.enter()
    const telling = tellAtPace(hear, pace)
    return new ReadableStream<Uint8Array>({
      start(controller) {
        pump(controller)
          .catch((error: unknown) => controller.error(error))
          .finally(leave)
      },
      cancel(reason) {
        telling.stop()
        leave()
        return reader.cancel(reason)
      },
    })

    async function pump(controller: ReadableStreamDefaultController<Uint8Array>) {
      const encoder = new TextEncoder()
      const events = splitEvents()
      let run: SaidText["kind"] | null = null
      let held: { text: string; last: SaidText } | null = null
      try {
        for (let read = await reader.read(); !read.done; read = await reader.read()) {
          for (const event of events.take(read.value)) take(event)
        }
        endRun()
        pass(events.rest())
      } finally {
        telling.flush()
      }
      controller.close()

      function take(event: string) {
        const text = said === null ? "unclear" : readCompletionEvent(event)
        if (said === null || text === "unclear" || text === "nothing") {
          if (text === "unclear") said = null
          endRun()
          return pass(event)
        }
        if (text.isAll && text.kind === run) {
          held = { text: (held?.text ?? "") + text.text, last: text }
          telling.add({ kind: text.kind, text: text.text, after: said })
        } else {
          endRun()
          pass(event)
          run = text.isAll ? text.kind : null
        }
        said += text.text.length
      }

      function endRun() {
        telling.flush()
        if (held) pass(held.last.withText(held.text))
        held = null
        run = null
      }

      function pass(event: string) {
        if (event !== "") controller.enqueue(encoder.encode(event))
      }
    }
  }
}
