import { PassThrough } from "node:stream"
import { text } from "node:stream/consumers"
import type { ReactNode } from "react"
import { renderToPipeableStream } from "react-dom/server"

/** Renders as the server renders a page that takes long. */
export function renderPage(page: ReactNode): Promise<string> {
  return new Promise((resolve, reject) => {
    const { pipe } = renderToPipeableStream(page, {
      onShellReady: () => resolve(text(pipe(new PassThrough()))),
      onShellError: reject,
    })
  })
}
