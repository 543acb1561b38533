import * as v from "valibot"
import { BadRequest, UnsupportedType } from "#server/errors.ts"
import { json, methodNotAllowed } from "#server/transport/json.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { limitsOf } from "#server/plans/limits.ts"
import type { Scope } from "#server/scope.ts"
import { giveUpUpload } from "./discard.ts"
import { onceOf } from "#server/operations/once.ts"
import {
  cancelUpload,
  createUpload,
  findProgress,
  receivePart,
  type Part,
  type Progress,
} from "./resumable.ts"
import { placeOf } from "./contract.ts"
import { UploadMetadata } from "./upload-metadata.ts"

// The headers of the tus protocol 1.0.0, https://tus.io/protocols/resumable-upload.

type Uploading = Scope<
  "blobs" | "config" | "db" | "runningRequests" | "uploadLocks" | "uploadProgress" | "viewer"
>

const VERSION = "1.0.0"
const EXTENSIONS = "creation,creation-with-upload,expiration,termination"
const PART_TYPE = "application/offset+octet-stream"

/** Handles requests at the URL where uploads are created. */
export function answerTusCreation(scope: Uploading, request: Request, address: string): Promise<Response> {
  return answerTus(scope, request, {
    POST: () => create(scope, request, address),
  })
}

/** Handles requests at the URL of one upload. */
export function answerTusUpload(scope: Uploading, request: Request, id: string): Promise<Response> {
  return answerTus(scope, request, {
    HEAD: () => tell(scope, id),
    PATCH: () => receive(scope, request, id),
    DELETE: async () => {
      await cancelUpload(scope, id)
      return new Response(null, { status: 204 })
    },
  })
}

async function answerTus(
  scope: Uploading,
  request: Request,
  answers: Record<string, () => Promise<Response>>,
): Promise<Response> {
  return answerRefusals(async () => {
    // Some networks allow only GET and POST. A GET is not overridden, because its origin would not
    // have been checked.
    const override = request.method === "POST" ? request.headers.get("x-http-method-override") : null
    const method = override?.toUpperCase() ?? request.method
    if (method === "OPTIONS") return tellAbilities(scope)
    if (request.headers.get("tus-resumable") !== VERSION) return refuseVersion()
    const answer = Object.hasOwn(answers, method) ? answers[method] : undefined
    return answer ? answer() : methodNotAllowed([...Object.keys(answers), "OPTIONS"])
  })
}

/** Middleware of both: each response says which tus it is, also one to a method that is not allowed. */
export async function speakTus(_asked: unknown, next: () => Promise<Response>): Promise<Response> {
  const response = await next()
  response.headers.set("Tus-Resumable", VERSION)
  response.headers.set("Cache-Control", "no-store")
  return response
}

function tellAbilities({ config, viewer }: Uploading): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "Tus-Version": VERSION,
      "Tus-Extension": EXTENSIONS,
      "Tus-Max-Size": String(limitsOf(config, viewer.session).largestFile),
    },
  })
}

function refuseVersion(): Response {
  const error = `This is tus ${VERSION}: send Tus-Resumable: ${VERSION}.`
  return json({ error }, { status: 412, headers: { "Tus-Version": VERSION } })
}

async function create(scope: Uploading, request: Request, address: string): Promise<Response> {
  if (request.headers.has("upload-defer-length") || request.headers.has("upload-concat")) {
    throw new BadRequest("tus-extension-unsupported")
  }
  const length = readHeader(request, "Upload-Length", ByteCount)
  const { fileName, metadata } = readHeader(request, "Upload-Metadata", UploadMetadata)
  const { spaceId } = placeOf(request)
  const once = onceOf(request)
  const created = await createUpload(scope, { fileName, length, metadata, spaceId, once })
  const headers = { Location: `${address}/${created._id}` }
  // Of an upload that was created before, some bytes may be there: the sender goes on from the offset.
  if (!isPart(request) || length === 0 || !created.isNew)
    return new Response(null, { status: 201, headers: { ...headers, ...described(created) } })
  try {
    const progress = await receivePart(scope, created._id, { ...partOf(request), offset: 0 })
    return new Response(null, { status: 201, headers: { ...headers, ...described(progress) } })
  } catch (error) {
    // The sender never received its URL, and has no key to ask for it.
    if (!once) await giveUpUpload(scope, created._id)
    throw error
  }
}

async function tell(scope: Uploading, id: string): Promise<Response> {
  const progress = await findProgress(scope, id)
  return new Response(null, {
    headers: {
      "Upload-Length": String(progress.length),
      "Upload-Metadata": progress.metadata,
      ...described(progress),
    },
  })
}

async function receive(scope: Uploading, request: Request, id: string): Promise<Response> {
  if (!isPart(request)) throw new UnsupportedType("tus-part-type-wrong", { type: PART_TYPE })
  const offset = readHeader(request, "Upload-Offset", ByteCount)
  const progress = await receivePart(scope, id, { ...partOf(request), offset })
  return new Response(null, { status: 204, headers: described(progress) })
}

function described({ offset, expiresAt, fileId }: Progress): Record<string, string> {
  const end: Record<string, string> = fileId
    ? { "Tideline-File-Id": fileId }
    : { "Upload-Expires": new Date(expiresAt).toUTCString() }
  return { "Upload-Offset": String(offset), ...end }
}

function isPart(request: Request): boolean {
  return request.headers.get("content-type")?.trim().toLowerCase() === PART_TYPE
}

function partOf(request: Request): Omit<Part, "offset"> {
  const length = request.headers.get("content-length")
  return { body: request.body ?? new Blob().stream(), size: length === null ? null : Number(length) }
}

const ByteCount = v.pipe(
  v.string("is missing: it is a number of bytes."),
  v.regex(/^(0|[1-9]\d*)$/, "is not a number of bytes."),
  v.toNumber(),
  v.safeInteger("is not a number of bytes."),
)

function readHeader<Schema extends v.GenericSchema>(
  request: Request,
  name: string,
  schema: Schema,
): v.InferOutput<Schema> {
  const read = v.safeParse(schema, request.headers.get(name) ?? undefined)
  if (!read.success)
    throw new BadRequest("tus-header-wrong", { header: name, problem: read.issues[0].message })
  return read.output
}
