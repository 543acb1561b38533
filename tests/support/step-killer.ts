import fs from "node:fs/promises"
import { syncBuiltinESMExports } from "node:module"
import { Socket } from "node:net"
import process from "node:process"

// Preloaded into a program that a test wants to kill: sends SIGKILL at the step with the number in
// KILL_AT, or when PostgreSQL has confirmed as many commits as KILL_AT_COMMIT says, of which the
// program never hears. A step is the beginning or the end of a file operation, or a packet to or
// from the database. Counting starts with `globalThis.countSteps()`.

const at = Number(process.env["KILL_AT"])
const atCommit = Number(process.env["KILL_AT_COMMIT"])
let steps = -1
let commits = 0

Object.assign(globalThis, {
  countSteps: () => void (steps = 0),
  stepsCounted: () => steps,
})

function step() {
  if (steps < 0) return
  steps++
  if (steps === at) process.kill(process.pid, "SIGKILL")
}

type Act = (...args: unknown[]) => Promise<unknown>

function wrap(owner: object, names: string[]) {
  const acts = owner as Record<string, Act>
  for (const name of names) {
    const act = acts[name]
    if (!act) throw new Error(`There is no ${name} to wrap.`)
    acts[name] = async function wrapped(this: unknown, ...args) {
      step()
      const result = await act.apply(this, args)
      step()
      return result
    }
  }
}

const probe = await fs.open("/dev/null")
wrap(Object.getPrototypeOf(probe) as object, ["write", "sync"])
await probe.close()
wrap(fs, ["open", "mkdir", "rename", "rm"])
syncBuiltinESMExports()

const { write, push } = Socket.prototype
Socket.prototype.write = function written(this: Socket, ...args: Parameters<typeof write>) {
  step()
  return write.apply(this, args)
} as typeof write
Socket.prototype.push = function pushed(this: Socket, ...args: Parameters<typeof push>) {
  step()
  const [packet] = args as unknown[]
  const isCommit = steps >= 0 && Buffer.isBuffer(packet) && packet.includes("COMMIT\0")
  if (isCommit && ++commits === atCommit) process.kill(process.pid, "SIGKILL")
  return push.apply(this, args)
}
