import type { CodePiece } from "./highlight.ts"
import type { Highlighted, ToHighlight } from "./highlight-worker.ts"

/** Milliseconds after which a text keeps no colours, those to load its grammar included. */
const LONGEST = 3000

/** More elements would be noticeable when they are shown. */
const MOST_PIECES = 6000

let worker: Worker | undefined
let last: Promise<unknown> = Promise.resolve()

/** One text after the other. Null for an unknown language, and for what takes too long. */
export function findColours(text: ToHighlight): Promise<CodePiece[] | null> {
  const found = last.then(() => ask(text))
  last = found
  return found
}

function ask(text: ToHighlight): Promise<CodePiece[] | null> {
  worker ??= new Worker(new URL("./highlight-worker.ts", import.meta.url), {
    type: "module",
    name: "highlight",
  })
  const asked = worker
  const over = new AbortController()
  return new Promise((resolve) => {
    const settle = (pieces: CodePiece[] | null) => {
      clearTimeout(timer)
      over.abort()
      resolve(pieces && pieces.length <= MOST_PIECES ? pieces : null)
    }
    const giveUp = () => {
      asked.terminate()
      worker = undefined
      settle(null)
    }
    const timer = setTimeout(giveUp, LONGEST)
    const answered = ({ data }: MessageEvent<Highlighted>) => settle(data.pieces)
    asked.addEventListener("message", answered, over)
    asked.addEventListener("error", giveUp, over)
    asked.postMessage(text)
  })
}
