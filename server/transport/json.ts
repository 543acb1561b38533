import { isStorable } from "#live/contract"
import { readBytes } from "./body.ts"
import { TextResponse } from "./text-response.ts"

/** Bytes. */
export const JSON_LIMIT = 256 * 1024

export type JsonBody = { ok: true; value: unknown } | { ok: false; status: 400 | 413 }

/**
 * Parses the body as JSON: 413 above `limit` bytes, 400 for invalid JSON or UTF-8, and for a text
 * that PostgreSQL cannot store, unless the caller `cleansTexts`. Throws if the client disconnects.
 */
export async function readJson(
  request: Request,
  { limit = JSON_LIMIT, cleansTexts = false } = {},
): Promise<JsonBody> {
  const bytes = await readBytes(request, limit)
  return bytes ? parseJson(bytes, { cleansTexts }) : { ok: false, status: 413 }
}

/** The same for a body that has been read. */
export function parseJson(bytes: Uint8Array, { cleansTexts = false } = {}): JsonBody {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
    return cleansTexts || isStorable(value) ? { ok: true, value } : { ok: false, status: 400 }
  } catch {
    return { ok: false, status: 400 }
  }
}

export function json(body: unknown, init: ResponseInit = {}): Response {
  const response = new TextResponse(JSON.stringify(body), init)
  if (!response.headers.has("content-type"))
    response.headers.set("content-type", "application/json; charset=utf-8")
  return response
}

/** For a body over the limit. */
export function bodyTooLarge(headers: HeadersInit = {}, limit = JSON_LIMIT): Response {
  const size = limit < 1024 * 1024 ? `${limit / 1024} KB` : `${limit / 1024 / 1024} MB`
  return json({ error: `Request body larger than ${size}` }, { status: 413, headers })
}

/**
 * For a method that the URL does not support. `allowed` as in the `Allow` header: `["GET",
 * "HEAD"]`.
 */
export function methodNotAllowed(allowed: string[]): Response {
  return json({ error: "Method not allowed" }, { status: 405, headers: { Allow: allowed.join(", ") } })
}
