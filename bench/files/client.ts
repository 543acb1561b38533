import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { Agent, request, type IncomingMessage } from "node:http"
import { json } from "node:stream/consumers"
import { answerCommands } from "../program.ts"
import { now } from "../statistics.ts"

// Run as a program: uploads and downloads files one at a time, with as little processing of their
// bytes as possible.

export interface Server {
  origin: string
  /** Authenticate the user. */
  headers: Record<string, string>
}

export interface Sent {
  fileId: string
  milliseconds: number
}

/** The same size as in the browser: see app/routes/dashboard/files/upload/send-in-parts.ts. */
const PART = 16 * 1024 * 1024
const PIECE = 1024 * 1024

/** Random, so that no type is detected from the content. */
const bytes = randomBytes(PART)
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

const commands = {
  /** Uploads with the tus protocol: each part is durable before the next is sent. */
  async sendInParts(server: Server, size: number): Promise<Sent> {
    const begun = now()
    const created = await ask(server, "POST", "/api/files/uploads", {
      ...TUS,
      "upload-length": String(size),
      "upload-metadata": `filename ${Buffer.from("film.bin").toString("base64")}`,
    })
    const address = String(created.headers["location"])
    let fileId: string | undefined
    for (let offset = 0; offset < size; offset += PART) {
      const headers = {
        ...TUS,
        "content-type": "application/offset+octet-stream",
        "upload-offset": String(offset),
      }
      const answer = await ask(server, "PATCH", address, headers, Math.min(PART, size - offset))
      fileId = answer.headers["tideline-file-id"]?.toString()
    }
    if (fileId === undefined) throw new Error("The last part made no file.")
    return { fileId, milliseconds: now() - begun }
  },

  async sendWhole(server: Server, size: number): Promise<Sent> {
    const begun = now()
    const stored = await ask(server, "POST", "/api/files?name=film.bin", {}, size, json)
    const fileId = (stored as { files: { _id: string }[] }).files[0]?._id ?? ""
    return { fileId, milliseconds: now() - begun }
  },

  /** Milliseconds. */
  async take(server: Server, fileId: string, size: number): Promise<number> {
    const begun = now()
    const taken = await ask(server, "GET", `/api/files/${fileId}`, {}, 0, count)
    if (taken !== size) throw new Error(`${taken} of ${size} bytes came.`)
    return now() - begun
  },

  async remove(server: Server, fileId: string): Promise<void> {
    await ask(server, "DELETE", `/api/files/${fileId}?permanently=1`, {})
  },
}
export type ClientCommands = typeof commands

answerCommands(commands)

const TUS = { "tus-resumable": "1.0.0" }

function ask(
  server: Server,
  method: string,
  path: string,
  headers: Record<string, string>,
  size?: number,
): Promise<IncomingMessage>
function ask<Read>(
  server: Server,
  method: string,
  path: string,
  headers: Record<string, string>,
  size: number,
  read: (answer: IncomingMessage) => Promise<Read>,
): Promise<Read>
async function ask(
  server: Server,
  method: string,
  path: string,
  headers: Record<string, string>,
  size = 0,
  read: (answer: IncomingMessage) => Promise<unknown> = ignoreBody,
): Promise<unknown> {
  const length = method === "GET" ? {} : { "content-length": String(size) }
  const sent = request(new URL(path, server.origin), {
    method,
    agent,
    headers: { ...server.headers, ...length, ...headers },
  })
  const answered = once(sent, "response") as Promise<[IncomingMessage]>
  for (let left = size; left > 0; left -= PIECE) {
    if (!sent.write(bytes.subarray(0, Math.min(left, PIECE)))) await once(sent, "drain")
  }
  sent.end()
  const [answer] = await answered
  if ((answer.statusCode ?? 0) >= 300)
    throw new Error(`${method} ${path}: ${answer.statusCode} ${JSON.stringify(await json(answer))}`)
  return read(answer)
}

async function ignoreBody(answer: IncomingMessage): Promise<IncomingMessage> {
  answer.resume()
  if (!answer.complete) await once(answer, "end")
  return answer
}

async function count(answer: IncomingMessage): Promise<number> {
  let size = 0
  answer.on("data", (chunk: Buffer) => (size += chunk.byteLength))
  await once(answer, "end")
  return size
}
