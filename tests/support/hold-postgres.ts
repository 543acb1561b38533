import { startEmbeddedPostgres } from "#db/embedded/postgres.ts"

// Run as a program: starts PostgreSQL in the given folder, prints its URL, and runs until it is
// killed.
const directory = process.argv[2]
if (!directory) throw new Error("Give a folder.")
const { url, pid } = await startEmbeddedPostgres({ directory, settings: { fsync: "off" } })
process.stdout.write(`${JSON.stringify({ url, pid })}\n`)
setInterval(() => {}, 1 << 30)
