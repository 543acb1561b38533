import { measureChat } from "./chat/measure.ts"
import { measureFiles } from "./files/measure.ts"
import { measureHttp } from "./http/measure.ts"
import { measureRealtime } from "./realtime/measure.ts"
import { saveResults } from "./results.ts"

// npm run bench -- <what>. Set BENCH_SHORT=1 for a quick look: one round, short measures.

const benches: Record<string, (options: { short: boolean }) => Promise<object>> = {
  chat: measureChat,
  files: measureFiles,
  http: measureHttp,
  realtime: measureRealtime,
}

const name = process.argv[2] ?? ""
const bench = benches[name]
if (!bench) {
  process.stderr.write(`Say what to measure: npm run bench -- ${Object.keys(benches).join("|")}\n`)
  process.exit(1)
}
const short = process.env["BENCH_SHORT"] === "1"
const results = await bench({ short })
process.stdout.write(`\nWritten to ${saveResults(name, { short, ...results })}\n`)
