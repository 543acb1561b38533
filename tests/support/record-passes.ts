import { appendFileSync } from "node:fs"
import { isMainThread } from "node:worker_threads"

// Imported by a server before its own code: appends the processor time of each pass of its event
// loop that took more than a moment, in ms, to the file that PASSES_FILE names. Processor time, so
// that it does not matter what else the machine is doing.

const file = process.env["PASSES_FILE"]

/** Milliseconds below which a pass is not worth a line. */
const MOMENT = 10

if (file !== undefined && isMainThread) {
  let before = process.threadCpuUsage()
  const look = () => {
    const { user, system } = process.threadCpuUsage(before)
    const milliseconds = (user + system) / 1000
    if (milliseconds > MOMENT) appendFileSync(file, `${milliseconds.toFixed(1)}\n`)
    before = process.threadCpuUsage()
    setTimeout(look, 1).unref()
  }
  look()
}
