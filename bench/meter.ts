import { answerCommands } from "./program.ts"

// Runs inside each measured process, before its program: measures what can only be read there.

const SAMPLE_MS = 250

let cpuBefore = process.cpuUsage()
let peak = 0
setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), SAMPLE_MS).unref()

const commands = {
  start() {
    cpuBefore = process.cpuUsage()
    peak = process.memoryUsage.rss()
  },
  /** Since `start`: CPU in ms, and the most resident memory in MiB. */
  read() {
    const { user, system } = process.cpuUsage(cpuBefore)
    return { cpu: (user + system) / 1000, memory: peak / 2 ** 20 }
  },
}
export type MeterCommands = typeof commands

answerCommands(commands)
