import { createHash } from "node:crypto"
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { readFile } from "node:fs/promises"
import type { IncomingMessage, ServerResponse } from "node:http"
import { extname, join, relative, sep } from "node:path"
import { pipeline } from "node:stream/promises"
import { acceptedEncodings, type Encoding } from "./compression.ts"
import { namesTag } from "./conditional.ts"

interface StaticFile {
  path: string
  type: string
  etag: string
  isImmutable: boolean
  sizes: Partial<Record<Encoding | "identity", number>>
  /**
   * The content of a small file that was requested: opening it each time costs more than everything
   * else.
   */
  contents: Partial<Record<Encoding | "identity", Buffer>>
}

/** Bytes. */
const KEPT_IN_MEMORY = 128 * 1024

const SUFFIXES: Record<Encoding, string> = { br: ".br", gzip: ".gz" }

/**
 * Serves the files that were in `directory` when it was called, and nothing else: a path is looked
 * up in a list, never on the disk. Files under /assets have a hash in their names and never change.
 */
export function createFileServer(directory: string) {
  const files = listFiles(directory)
  return async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<boolean> => {
    if (incoming.method !== "GET" && incoming.method !== "HEAD") return false
    const path = incoming.url?.split("?", 1)[0] ?? ""
    const file = files.get(path)
    if (file) await send(file, incoming, outgoing)
    else if (path.startsWith("/assets/")) sendMissing(outgoing)
    else return false
    return true
  }
}

function listFiles(directory: string) {
  const files = new Map<string, StaticFile>()
  if (!existsSync(directory)) return files
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const isEncoded = Object.values(SUFFIXES).some((suffix) => path.endsWith(suffix))
    if (!entry.isFile() || entry.name.startsWith(".") || isEncoded) continue
    const address = `/${relative(directory, path).split(sep).join("/")}`
    if (address.startsWith("/.")) continue
    files.set(encodeURI(address), describe(path, { isImmutable: address.startsWith("/assets/") }))
  }
  return files
}

function describe(path: string, { isImmutable }: { isImmutable: boolean }): StaticFile {
  const sizes: StaticFile["sizes"] = { identity: statSync(path).size }
  for (const encoding of ["br", "gzip"] as const) {
    const encoded = path + SUFFIXES[encoding]
    if (existsSync(encoded)) sizes[encoding] = statSync(encoded).size
  }
  const fingerprint = createHash("sha256").update(isImmutable ? path : readFileSync(path))
  return {
    path,
    type: TYPES[extname(path)] ?? "application/octet-stream",
    etag: fingerprint.digest("base64url").slice(0, 22),
    isImmutable,
    sizes,
    contents: {},
  }
}

async function send(file: StaticFile, incoming: IncomingMessage, outgoing: ServerResponse) {
  const encoding = acceptedEncodings(incoming.headers["accept-encoding"]).find(
    (one) => file.sizes[one] !== undefined,
  )
  const etag = `"${file.etag}${encoding ? `-${encoding}` : ""}"`
  outgoing.setHeader("etag", etag)
  outgoing.setHeader(
    "cache-control",
    file.isImmutable ? "public, max-age=31536000, immutable" : "public, no-cache",
  )
  if (file.sizes.br !== undefined) outgoing.setHeader("vary", "accept-encoding")
  if (namesTag(incoming.headers["if-none-match"], etag)) {
    outgoing.statusCode = 304
    outgoing.end()
    return
  }
  const form = encoding ?? "identity"
  const size = file.sizes[form] ?? 0
  outgoing.setHeader("content-type", file.type)
  outgoing.setHeader("content-length", size)
  if (encoding) outgoing.setHeader("content-encoding", encoding)
  if (incoming.method === "HEAD") {
    outgoing.end()
    return
  }
  const path = encoding ? file.path + SUFFIXES[encoding] : file.path
  if (size <= KEPT_IN_MEMORY) {
    file.contents[form] ??= await readFile(path)
    outgoing.end(file.contents[form])
    return
  }
  try {
    await pipeline(createReadStream(path), outgoing)
  } catch (error) {
    if (!outgoing.destroyed) throw error
  }
}

function sendMissing(outgoing: ServerResponse) {
  outgoing.statusCode = 404
  outgoing.setHeader("content-type", "text/plain; charset=utf-8")
  outgoing.setHeader("cache-control", "no-store")
  outgoing.end("There is no such file.\n")
}

const TYPES: Record<string, string> = {
  ".avif": "image/avif",
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".jpg": "image/jpeg",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json; charset=utf-8",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
  ".xml": "application/xml; charset=utf-8",
}
