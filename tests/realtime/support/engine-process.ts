import { startEngine } from "./engine.ts"

// Run as a program: the engine in a process of its own, which can be stopped, continued and killed.
const [databaseUrl, limits] = process.argv.slice(2)
if (!databaseUrl || !limits) throw new Error("Give the database's URL and the limits.")
const engine = await startEngine(databaseUrl, JSON.parse(limits))
process.stdout.write(`${JSON.stringify({ port: engine.port })}\n`)
process.on("SIGTERM", () => void engine.close().then(() => process.exit(0)))
process.on("SIGUSR2", () => process.stdout.write(`${JSON.stringify(engine.realtime.metrics())}\n`))
