import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { cpus, loadavg, totalmem } from "node:os"
import { join, relative } from "node:path"

const folder = join(import.meta.dirname, "results")

/**
 * Adds the results to the day's file, without changing those of other benches. Returns the file's
 * path.
 */
export function saveResults(name: string, results: object): string {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${new Date().toISOString().slice(0, 10)}.json`)
  const kept: Record<string, unknown> = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {}
  kept[name] = results
  writeFileSync(file, `${JSON.stringify(kept, null, 2)}\n`)
  return relative(process.cwd(), file)
}

/**
 * Describes the machine and its load before the measurements, because the load of other processes
 * makes figures noisy.
 */
export function describeMachine() {
  return {
    at: new Date().toISOString(),
    node: process.version,
    cpu: `${cpus().length} x ${cpus()[0]?.model.trim()}`,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    loadBefore: loadavg().map((load) => Number(load.toFixed(2))),
  }
}
