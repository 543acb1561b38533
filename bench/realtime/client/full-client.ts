import { io } from "socket.io-client"
import { WebSocket } from "ws"
import { converse, PATHS, type Handlers } from "./conversation.ts"
import type { Candidate } from "../server.ts"

/**
 * One client as an application uses it: socket.io-client for candidates that speak socket.io, `ws`
 * for the floor.
 */
export function openFullClient(
  candidate: Candidate,
  port: number,
  room: string,
  handlers: Omit<Handlers, "send">,
) {
  if (candidate === "floor") return openWebSocket(port, room, handlers)
  const socket = io(`http://127.0.0.1:${port}`, {
    path: candidate === "tideline" ? "/realtime" : "/socket.io",
    transports: ["websocket"],
    forceNew: true,
    auth: { version: 1, token: "single" },
  })
  socket.on("connect_error", (error) => {
    throw error
  })
  if (candidate === "tideline") {
    let sequence = 0
    let acknowledged = 0
    const acknowledge = () => {
      acknowledged = sequence
      socket.emit("acknowledge", { sequence })
    }
    socket.onAny((_event: string, body: { sequence: number; changes?: [number, string, string][] }) => {
      sequence = body.sequence
      for (const [, , key] of body.changes ?? []) handlers.note(Number(key))
      if (sequence - acknowledged >= 16) acknowledge()
    })
    setInterval(() => sequence > acknowledged && acknowledge(), 15_000)
    socket.on("snapshot", () => handlers.joined())
    socket.on("connect", () => {
      socket.emit(
        "subscribe",
        { subscriptions: [{ id: 1, query: "notes.inRoom", args: { room } }] },
        () => {},
      )
    })
  } else {
    socket.on("note", ({ _id }: { _id: string }) => handlers.note(Number(_id)))
    socket.on("connect", () => socket.emit("subscribe", room, () => handlers.joined()))
  }
  return { close: () => void socket.disconnect() }
}

function openWebSocket(port: number, room: string, handlers: Omit<Handlers, "send">) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${PATHS.floor}`, { perMessageDeflate: false })
  const conversation = converse("floor", "single", {
    ...handlers,
    send: (text) => socket.send(text),
    ready: () => conversation.join(room),
  })
  socket.on("open", () => conversation.opened())
  socket.on("message", (data: Buffer) => conversation.text(data.toString()))
  return { close: () => socket.terminate() }
}
