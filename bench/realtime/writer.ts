import postgres from "postgres"
import { answerCommands } from "../program.ts"
import { now } from "../statistics.ts"
import { roomOf, SHARED_ROOM } from "./notes.ts"

// Run as a program: writes at a steady rate, whether or not earlier writes are done, and notes when each commit was acknowledged.
// A process of its own, so that a busy server cannot delay the moment that its latency is counted from.

const sql = postgres(process.argv[2] ?? "", { max: 20, onnotice() {} })
const BODY =
  "The tide comes in twice a day, and every boat in the harbour rises with it, whatever it carries."
let written = 0

const commands = {
  /** `count` writes at `perSecond`, each to the room of some socket among `sockets`. */
  write(count: number, perSecond: number, sockets: number) {
    return writeTo(count, perSecond, () => roomOf(Math.floor(Math.random() * sockets)))
  },
  writeShared(count: number, perSecond: number) {
    return writeTo(count, perSecond, () => SHARED_ROOM)
  },
}
export type WriterCommands = typeof commands

/** Answers the number of the first write and the times at which each was acknowledged, in ms. */
async function writeTo(count: number, perSecond: number, chooseRoom: () => string) {
  const first = written
  written += count
  const acknowledged = new Float64Array(count)
  const begun = now()
  const pending: Promise<void>[] = []
  await new Promise<void>((resolve) => {
    const timer = setInterval(writeWhatIsDue, 1)
    function writeWhatIsDue() {
      const due = Math.min(count, 1 + Math.floor(((now() - begun) / 1000) * perSecond))
      while (pending.length < due) pending.push(writeOne(pending.length))
      if (due < count) return
      clearInterval(timer)
      resolve()
    }
  })
  await Promise.all(pending)
  const seconds = (now() - begun) / 1000
  return { first, acknowledged, perSecond: (count - 1) / seconds }

  async function writeOne(index: number): Promise<void> {
    await sql`
      insert into notes (_id, room, author, body, _creation_time)
      values (${String(first + index)}, ${chooseRoom()}, 'ada', ${BODY}, ${Date.now()})`
    acknowledged[index] = now()
  }
}

answerCommands(commands)
