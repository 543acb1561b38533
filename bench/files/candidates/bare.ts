import { randomUUID } from "node:crypto"
import { createReadStream, createWriteStream } from "node:fs"
import { rm, stat } from "node:fs/promises"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"

// Run as a program: the baseline for Tideline's uploads and downloads. At the same URLs it writes
// the received bytes to a file, syncs it and responds. It has no authentication, no checks and no
// hashing.

const [port, folder] = process.argv.slice(2) as [string, string]

/** The announced length in bytes of each upload in parts, by its id. */
const announced = new Map<string, number>()

const server = createServer((incoming, outgoing) => {
  answer(incoming, outgoing).catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`)
    outgoing.destroy()
  })
})
server.keepAliveTimeout = 65_000 // as Tideline's: no client picks a connection that is just being closed
server.listen({ port: Number(port), host: "127.0.0.1" })

async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { method, headers } = incoming
  const path = new URL(incoming.url ?? "", "http://localhost").pathname
  if (method === "POST" && path === "/api/files/uploads") {
    const id = randomUUID()
    announced.set(id, Number(headers["upload-length"]))
    outgoing.writeHead(201, { location: `${path}/${id}` }).end()
    return
  }
  if (method === "POST") {
    const id = randomUUID()
    await write(incoming, id)
    outgoing.writeHead(201).end(JSON.stringify({ files: [{ _id: id }] }))
    return
  }
  const id = path.slice(path.lastIndexOf("/") + 1)
  const file = join(folder, id)
  if (method === "PATCH") {
    await write(incoming, id)
    const end = Number(headers["upload-offset"]) + Number(headers["content-length"])
    if (end === announced.get(id)) outgoing.setHeader("tideline-file-id", id)
    outgoing.writeHead(204, { "upload-offset": end }).end()
  } else if (method === "DELETE") {
    await rm(file)
    outgoing.writeHead(204).end()
  } else {
    outgoing.setHeader("content-length", (await stat(file)).size)
    await pipeline(createReadStream(file, { highWaterMark: 256 * 1024 }), outgoing)
  }
}

/** Appends to the file. `flush` syncs it. */
function write(incoming: IncomingMessage, id: string): Promise<void> {
  return pipeline(incoming, createWriteStream(join(folder, id), { flags: "a", flush: true }))
}
