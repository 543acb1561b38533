import { AsyncLocalStorage } from "node:async_hooks"
import type { IncomingMessage } from "node:http"
import { Readable } from "node:stream"
import { wrapLanguageModel, type LanguageModel } from "ai"
import type { Hear } from "#server/ports/model.ts"
import { readCompletionEvent, type SaidText } from "./completion-event.ts"
import { sendRequest, toResponse } from "./node-request.ts"
import { createPace, tellAtPace, type Pace } from "./pace.ts"
import { splitEvents } from "./split-events.ts"

type ConnectedModel = Parameters<typeof wrapLanguageModel>[0]["model"]

/**
 * Lets others hear what a model says, through the `fetch` that its provider uses. What a delta costs is the stages of streams
 * that the SDK sends it through; so most go straight to who hears, and the provider gets a run of them as one delta when it is
 * over. The first of each run, and all that is more than text, passes as it is, and in order.
 */
export function openListening() {
  const listening = new AsyncLocalStorage<(incoming: IncomingMessage) => Response>()
  const pace = createPace()
  return {
    async fetch(...request: Parameters<typeof fetch>): Promise<Response> {
      const listen = listening.getStore()
      return listen ? listen(await sendRequest(...request)) : fetch(...request)
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

  return (incoming: IncomingMessage) => {
    const { statusCode = 502, headers } = incoming
    const isStream = statusCode === 200 && headers["content-type"]?.startsWith("text/event-stream")
    return toResponse(incoming, isStream ? divert(incoming) : toBody(incoming))
  }

  function divert(source: IncomingMessage) {
    const leave = pace.enter()
    const telling = tellAtPace(hear, pace)
    return new ReadableStream<Uint8Array>({
      start: listen,
      cancel() {
        telling.stop()
        leave()
        source.removeAllListeners("data").removeAllListeners("end").destroy()
      },
    })

    function listen(controller: ReadableStreamDefaultController<Uint8Array>) {
      const encoder = new TextEncoder()
      const events = splitEvents()
      let run: SaidText["kind"] | null = null
      let held: { text: string; last: SaidText } | null = null

      source.on("data", (bytes: Buffer) => {
        attempt(() => {
          for (const event of events.take(bytes)) take(event)
        })
      })
      source.once("end", () => {
        leave()
        attempt(() => {
          endRun()
          pass(events.rest())
          controller.close()
        })
      })
      source.once("error", (error) => {
        leave()
        attempt(telling.flush)
        controller.error(error)
      })

      /** What goes wrong is the answer's failure. Thrown from here it would be the process's. */
      function attempt(work: () => void) {
        try {
          work()
        } catch (error) {
          source.destroy(error instanceof Error ? error : new Error(String(error)))
        }
      }

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

/** Web streams are one thing, and Node's types of them another. */
function toBody(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  return Readable.toWeb(incoming) as ReadableStream<Uint8Array>
}
