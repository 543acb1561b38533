/// <reference lib="webworker" />
import { highlight, type CodePiece } from "./highlight.ts"

declare const self: DedicatedWorkerGlobalScope

export interface ToHighlight {
  code: string
  language: string
}

export interface Highlighted {
  pieces: CodePiece[] | null
}

// Grammars are expressions that take time quadratic in what somebody else wrote, or worse. Here it
// keeps nobody waiting, and can be ended.
self.addEventListener("message", ({ data: { code, language } }: MessageEvent<ToHighlight>) => {
  highlight(code, language).then(answer, () => answer(null))
})

function answer(pieces: CodePiece[] | null) {
  self.postMessage({ pieces } satisfies Highlighted)
}
