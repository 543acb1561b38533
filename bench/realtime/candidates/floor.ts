import type { Server } from "node:http"
import postgres from "postgres"
import { WebSocketServer, type WebSocket } from "ws"
import { SELECT_NOTES } from "../notes.ts"
import { feed, type Commit } from "./wal-feed.ts"

/**
 * The lower bound: a bare reader of the log, and raw WebSockets that carry the same bytes as
 * Tideline's protocol. A frame is encoded once and written to every socket of its room. It has no
 * sequence numbers, flow control, resuming or authorization, and a commit between the first read
 * and the stream is lost.
 */
export async function openFloor(databaseUrl: string, server: Server): Promise<void> {
  const sql = postgres(databaseUrl, { max: 10, onnotice() {} })
  const rooms = new Map<string, Set<WebSocket>>()
  new WebSocketServer({ server, perMessageDeflate: false }).on("connection", (socket) => {
    const joined: string[] = []
    socket.on("message", (data: Buffer) => {
      const [, room]: [string, string] = JSON.parse(data.toString().slice("420".length))
      joined.push(room)
      rooms.set(room, (rooms.get(room) ?? new Set()).add(socket))
      void sql.unsafe(`${SELECT_NOTES} where room = $1`, [room], { prepare: true }).then((rows) => {
        socket.send(`430${JSON.stringify([rows])}`)
      })
    })
    socket.on("close", () => {
      for (const room of joined) rooms.get(room)?.delete(socket)
    })
  })
  await feed(databaseUrl, (commit) => {
    for (const { values } of commit.inserted) {
      const followers = rooms.get(values[1] ?? "")
      if (!followers) continue
      const frame = Buffer.from(frameOf(commit, values))
      for (const socket of followers) socket.send(frame, { binary: false })
    }
  })
}

function frameOf({ lsn, at, xid }: Commit, values: string[]): string {
  const [id, room, author, body, pinned, creationTime] = values
  const row = { _id: id, room, author, body, pinned: pinned === "t", _creationTime: Number(creationTime) }
  const place = lsn.toString(16).toUpperCase().padStart(16, "0")
  return `42["commit",{"sequence":1,"lsn":"${place}","at":${at},"xids":["${xid}"],"changes":[[1,"put","${id}",${JSON.stringify(row)}]]}]`
}
