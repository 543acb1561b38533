import { answerCommands } from "../program.ts"
import { now } from "../statistics.ts"
import { converse, PATHS, type Conversation, type Standing, type Way } from "./client/conversation.ts"
import { openFullClient } from "./client/full-client.ts"
import { openLightSocket, type LightSocket } from "./client/light-socket.ts"
import { roomOf, SHARED_ROOM } from "./notes.ts"
import type { Candidate } from "./server.ts"

// Run as a program: the clients. It records when each note reaches a client's callback.

const [candidate, portText] = process.argv.slice(2) as [Candidate, string]
const port = Number(portText)

interface Member {
  socket: LightSocket
  conversation: Conversation
  joined: PromiseWithResolvers<void>
}

let members: Member[] = []
let single: { close(): void } | null = null
let numbers: number[] = []
let times: number[] = []

setInterval(() => {
  const time = performance.now()
  for (const { conversation } of members) conversation.tick(time)
}, 10)

const commands = {
  async openOne() {
    const joined = Promise.withResolvers<void>()
    single = openFullClient(candidate, port, roomOf(0), { ready() {}, joined: joined.resolve, note })
    await joined.promise
  },
  closeOne() {
    single?.close()
    single = null
  },
  /**
   * Opens sockets, a hundred at a time. Each follows a room of its own, and the shared one in the
   * other ways.
   */
  async open(count: number, also: readonly Way[] = []) {
    while (members.length < count) {
      const batch = Array.from({ length: Math.min(100, count - members.length) }, () => enter(members.length))
      await Promise.all(batch.map(({ joined }) => joined.promise))
      for (const way of also) await join(batch, way)
    }
  },
  /** Has every client follow the shared room too. */
  async joinShared(way: Way = "inRoom") {
    await join(members, way)
  },
  /**
   * Drops all connections and reconnects them simultaneously. Returns the milliseconds until each
   * client follows its room again.
   */
  async reconnect(resuming: boolean) {
    const standings = members.map(({ conversation }) => (resuming ? conversation.standing() : null))
    for (const { socket } of members) socket.destroy()
    members = []
    const begun = now()
    const after = new Float64Array(standings.length)
    const back = standings.map(async (standing, index) => {
      await enter(index, standing).joined.promise
      after[index] = now() - begun
    })
    await Promise.all(back)
    return after
  },
  closeAll() {
    for (const { socket } of members) socket.destroy()
    members = []
  },
  /**
   * Waits for `expected` receipts, or until none have arrived for two seconds. Returns those since
   * the last call.
   */
  async receipts(expected: number) {
    let seen = -1
    let quietSince = now()
    while (numbers.length < expected && now() - quietSince < 2000) {
      if (numbers.length !== seen) quietSince = now()
      seen = numbers.length
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const receipts = { numbers: Float64Array.from(numbers), times: Float64Array.from(times) }
    numbers = []
    times = []
    return receipts
  },
}
export type CrowdCommands = typeof commands

function enter(index: number, standing: Standing | null = null): Member {
  const joined = Promise.withResolvers<void>()
  const conversation = converse(
    candidate,
    `user-${index}`,
    {
      send: (text) => member.socket.send(text),
      ready: () => conversation.join(roomOf(index)),
      joined: () => member.joined.resolve(),
      note,
    },
    standing,
  )
  const socket = openLightSocket(port, PATHS[candidate], {
    opened: () => conversation.opened(),
    text: (text) => conversation.text(text),
    closed: () => member.joined.reject(new Error("The server has closed a connection.")),
  })
  const member: Member = { socket, conversation, joined }
  members[index] = member
  return member
}

async function join(joining: readonly Member[], way: Way): Promise<void> {
  for (const member of joining) {
    member.joined = Promise.withResolvers()
    member.conversation.join(SHARED_ROOM, way)
  }
  await Promise.all(joining.map(({ joined }) => joined.promise))
}

function note(number: number): void {
  numbers.push(number)
  times.push(now())
}

answerCommands(commands)
