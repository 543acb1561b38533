import type { Readable } from "node:stream"
import { create as contentDisposition } from "content-disposition"
import { isFresh, readRange } from "../http/conditional.ts"
import { json } from "../http/json.ts"
import type { Scope } from "../scope.ts"
import { isShownInline } from "./contract.ts"
import { findFile } from "./files.ts"

/**
 * Answers GET and HEAD for a file's bytes: the whole or a range, or 304 where the client has them. Types that could run script
 * are downloaded, and whatever the browser makes of the bytes, it does so without scripts and outside our origin.
 * Throws `NotFound`.
 */
export async function serveFile(
  scope: Scope<"db" | "blobs" | "viewer">,
  id: string,
  request: Request,
): Promise<Response> {
  const file = await findFile(scope, id)
  const etag = `"${file.sha256}"`
  const headers = new Headers({
    "Accept-Ranges": "bytes",
    // The bytes at an address never change, but they can be removed, and whoever looks can sign out: ask every time.
    "Cache-Control": "private, no-cache, no-transform",
    "Content-Disposition": contentDisposition(file.fileName, { type: dispositionOf(file.mimeType, request) }),
    "Content-Security-Policy":
      "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; media-src 'self'; sandbox",
    "Content-Type": file.mimeType === "text/plain" ? "text/plain; charset=utf-8" : file.mimeType,
    "Cross-Origin-Resource-Policy": "same-origin",
    ETag: etag,
    Vary: "Cookie, Authorization",
    "X-Content-Type-Options": "nosniff",
  })
  if (isFresh(request.headers, etag)) return new Response(null, { status: 304, headers })

  const range = request.method === "GET" ? readRange(request.headers, file.size, etag) : null
  if (range === "unsatisfiable") {
    return json(
      { error: `The file has ${file.size} bytes, and the range lies outside.` },
      { status: 416, headers: { "Accept-Ranges": "bytes", "Content-Range": `bytes */${file.size}` } },
    )
  }
  if (range) headers.set("Content-Range", `bytes ${range.start}-${range.end}/${file.size}`)
  headers.set("Content-Length", String(range ? range.end - range.start + 1 : file.size))
  if (request.method === "HEAD") return new Response(null, { headers })

  const bytes = await scope.blobs.open(file.key, range ?? undefined)
  if (!bytes) throw new Error(`The bytes of file ${id} are missing from the blob store: ${file.key}.`)
  return new Response(toBody(bytes), { status: range ? 206 : 200, headers })
}

function dispositionOf(mimeType: string, request: Request) {
  const mustDownload = new URL(request.url).searchParams.has("download")
  return isShownInline(mimeType) && !mustDownload ? "inline" : "attachment"
}

/** The reader sets the pace, and leaving closes the file. */
function toBody(bytes: Readable): ReadableStream<Uint8Array> {
  const chunks = bytes.iterator() as AsyncIterator<Uint8Array>
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel() {
        bytes.destroy()
      },
    },
    { highWaterMark: 0 },
  )
}
