import { startEngine } from "./engine.ts"
import { drafts, messages, threads } from "./tables.ts"

// Run as a program: the engine in its own process, which can be stopped, continued and killed.
const [databaseUrl, limits, version, ...followUrls] = process.argv.slice(2)
if (!databaseUrl || !limits) throw new Error("Give the database's URL and the limits.")
// The next version watches one more table, so positions from this version mean nothing to it.
const engine = await startEngine(databaseUrl, JSON.parse(limits), {
  followUrls,
  ...(version === "next" && { tables: [threads, messages, drafts] }),
})
process.stdout.write(`${JSON.stringify({ port: engine.port })}\n`)
process.on("SIGTERM", () => void engine.close().then(() => process.exit(0)))
process.on("SIGUSR2", () => process.stdout.write(`${JSON.stringify(engine.realtime.metrics())}\n`))
