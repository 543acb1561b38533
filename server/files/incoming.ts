import { pipeline } from "node:stream/promises"
import { Busboy } from "@fastify/busboy"
import * as v from "valibot"
import { BadRequest, refuseUnknownField } from "#server/errors.ts"
import { freeMemory } from "#server/transport/spent-memory.ts"
import { readModified } from "./modified.ts"
import { onceBy, onceOf, type Once } from "#server/operations/once.ts"
import type { IncomingFile } from "./upload.ts"

/** Of one form. */
const MOST_FILES = 50

/** The texts of a form with files. */
const FormFields = v.strictObject({
  lastModified: v.optional(v.string()),
  idempotencyKey: v.optional(v.string()),
})

/**
 * Passes the files of a request to `take`, one after the other as they arrive, and resolves with
 * its results. They are the files of a form (multipart/form-data), or the body itself with its name
 * in the query. The first refusal ends it; earlier files stay. An `Idempotency-Key`, or the field
 * `idempotencyKey` before them, counts for each file of a form by its position. Throws what `take`
 * throws, and `BadRequest`.
 */
export async function takeFiles<Taken>(
  request: Request,
  take: (file: IncomingFile) => Promise<Taken>,
): Promise<Taken[]> {
  const once = onceOf(request)
  const isForm = request.headers.get("content-type")?.toLowerCase().startsWith("multipart/form-data")
  const taken = isForm
    ? await takeFromForm(request, take, once)
    : [await take({ ...bodyAsFile(request), once })]
  if (taken.length === 0) throw new BadRequest("form-without-file")
  return taken
}

function bodyAsFile(request: Request): IncomingFile {
  const asked = new URL(request.url).searchParams
  const fileName = asked.get("name")
  if (!fileName) throw new BadRequest("file-unnamed")
  const length = request.headers.get("content-length")
  const size = length === null ? { atMost: Infinity } : { exactly: Number(length) }
  const modifiedAt = readModified(asked.get("lastModified"))
  return { fileName, bytes: freeing(bytesOf(request)), size, modifiedAt }
}

async function takeFromForm<Taken>(
  request: Request,
  take: (file: IncomingFile) => Promise<Taken>,
  ofRequest: Once | undefined,
) {
  let once = ofRequest
  const size = { atMost: Number(request.headers.get("content-length") ?? Infinity) }
  const failed = new AbortController()
  const taken: Promise<Taken>[] = []
  const parser = openParser(request)
  // An error event without a listener ends the process, and the parser's streams can emit one at
  // any time.
  const endEarly = () => failed.abort(new BadRequest("form-broken"))
  parser.on("error", endEarly)
  parser.on("filesLimit", () =>
    failed.abort(new BadRequest("form-with-too-many-files", { most: MOST_FILES })),
  )
  // That of the file that follows it.
  let modifiedAt: number | undefined
  parser.on("field", (field, text) => {
    try {
      // A form may have fields of its own, which are ignored.
      const unknown = refuseUnknownField(FormFields, { [field]: text })
      if (unknown?.reason === "field-misspelt") throw unknown
      if (field === "lastModified") modifiedAt = readModified(text)
      else if (field === "idempotencyKey") once ??= onceBy(text)
    } catch (error) {
      failed.abort(error)
    }
  })
  parser.on("file", (_field, stream, fileName) => {
    stream.on("error", endEarly)
    // A file field that was left empty.
    if (!fileName || failed.signal.aborted) return void stream.resume()
    failed.signal.addEventListener("abort", () => stream.destroy(failed.signal.reason as Error))
    // A refusal stops reading the file; the parser must not report that as a malformed form.
    const bytes = stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
    const ofFile = once && { key: `${once.key} ${taken.length + 1}` }
    const taking = take({ fileName: decodeFormName(fileName), bytes, size, modifiedAt, once: ofFile })
    modifiedAt = undefined
    taking.catch((error: unknown) => failed.abort(error))
    taken.push(taking)
  })
  try {
    await pipeline(bytesOf(request), parser, { signal: failed.signal })
  } catch {
    endEarly()
    await Promise.allSettled(taken)
    throw failed.signal.reason
  }
  return Promise.all(taken)
}

/**
 * What browsers escape in the names of a form, https://html.spec.whatwg.org/#multipart-form-data. They
 * do not escape a percent sign, so no other sequence means anything but itself.
 */
function decodeFormName(name: string): string {
  return name.replaceAll(/%(0A|0D|22)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

function openParser(request: Request) {
  try {
    return new Busboy({
      headers: { "content-type": request.headers.get("content-type") ?? "" },
      limits: {
        files: MOST_FILES,
        fields: MOST_FILES + 10,
        fieldSize: 1024,
        parts: 2 * MOST_FILES + 10,
        headerPairs: 20,
      },
    })
  } catch {
    throw new BadRequest("form-not-multipart")
  }
}

async function* freeing(bytes: AsyncIterable<Uint8Array>) {
  for await (const chunk of bytes) {
    yield chunk
    freeMemory(chunk)
  }
}

async function* bytesOf(request: Request): AsyncGenerator<Uint8Array> {
  for await (const chunk of request.body ?? []) yield chunk
}
