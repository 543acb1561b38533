type Send = (address: string, init?: RequestInit) => Promise<Response>

const VERSION = { "Tus-Resumable": "1.0.0" }
const PART = { ...VERSION, "Content-Type": "application/offset+octet-stream" }

/** An upload as a client of the tus protocol sees it, request by request. */
export interface SentUpload {
  address: string
  head(): Promise<Response>
  /** Sends the bytes as those from `offset` on. */
  patch(
    offset: number,
    bytes: Uint8Array | ReadableStream,
    headers?: Record<string, string>,
  ): Promise<Response>
  cancel(): Promise<Response>
}

export function create(send: Send, headers: Record<string, string>, body?: Uint8Array | ReadableStream) {
  return send("/api/files/uploads", {
    method: "POST",
    headers: { ...(body ? PART : VERSION), ...headers },
    ...bodyOf(body),
  })
}

export function metadataOf(fileName: string) {
  return `filename ${Buffer.from(fileName).toString("base64")}`
}

/** Creates an upload; throws when that is refused. */
export async function begin(send: Send, fileName: string, length: number): Promise<SentUpload> {
  const created = await create(send, {
    "Upload-Length": String(length),
    "Upload-Metadata": metadataOf(fileName),
  })
  const address = created.headers.get("location")
  if (created.status !== 201 || !address) {
    throw new Error(`The upload was refused: ${created.status} ${await created.text()}`)
  }
  return uploadAt(send, address)
}

export function uploadAt(send: Send, address: string): SentUpload {
  return {
    address,
    head: () => send(address, { method: "HEAD", headers: VERSION }),
    patch: (offset, bytes, headers = {}) =>
      send(address, {
        method: "PATCH",
        headers: { ...PART, "Upload-Offset": String(offset), ...headers },
        ...bodyOf(bytes),
      }),
    cancel: () => send(address, { method: "DELETE", headers: VERSION }),
  }
}

function bodyOf(body: Uint8Array | ReadableStream | undefined) {
  return {
    ...(body && { body: body as BodyInit }),
    ...(body instanceof ReadableStream && { duplex: "half" }),
  }
}

/** How many bytes an upload has, as the server reports it. */
export async function offsetOf(upload: SentUpload): Promise<number> {
  const response = await upload.head()
  if (response.status !== 200) throw new Error(`HEAD ${upload.address} answered ${response.status}.`)
  return Number(response.headers.get("upload-offset"))
}
