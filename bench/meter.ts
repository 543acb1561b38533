import { answerCommands } from "./program.ts"

// Preloaded into each measured process, for figures that can only be read from inside.

const SAMPLE_MS = 250

let cpuBefore = process.cpuUsage()
let peak = 0
setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), SAMPLE_MS).unref()

const commands = {
  start() {
    cpuBefore = process.cpuUsage()
    peak = process.memoryUsage.rss()
  },
  /** CPU time in ms and peak resident memory in MiB since `start`. */
  read() {
    const { user, system } = process.cpuUsage(cpuBefore)
    return { cpu: (user + system) / 1000, memory: peak / 2 ** 20 }
  },
}
export type MeterCommands = typeof commands

answerCommands(commands)
