import { measureChat } from "./chat/measure.ts"
import { measureConnections } from "./connections/measure.ts"
import { measureFiles } from "./files/measure.ts"
import { measureHttp } from "./http/measure.ts"
import { measureRealtime } from "./realtime/measure.ts"
import { measureReturn } from "./return/measure.ts"
import { saveResults } from "./results.ts"
import { measureScale } from "./scale/measure.ts"
import { measureSilent } from "./silent/measure.ts"
import { measureStart } from "./start/measure.ts"

// npm run bench -- <name> runs one bench. BENCH_SHORT=1 runs one short round. npm run bench without
// a name runs the short form of all benches, one after the other.

const benches: Record<string, (options: { short: boolean }) => Promise<object>> = {
  http: measureHttp,
  start: measureStart,
  realtime: measureRealtime,
  chat: measureChat,
  files: measureFiles,
  return: measureReturn,
  silent: measureSilent,
  connections: measureConnections,
  scale: measureScale,
}

const name = process.argv[2]
if (name !== undefined && !benches[name]) {
  process.stderr.write(`Say what to measure: npm run bench -- ${Object.keys(benches).join("|")}\n`)
  process.exit(1)
}
const short = name === undefined || process.env["BENCH_SHORT"] === "1"
for (const [each, bench] of Object.entries(benches)) {
  if (name !== undefined && each !== name) continue
  const begun = performance.now()
  process.stdout.write(`\n# ${each}\n`)
  const results = await bench({ short })
  const minutes = (performance.now() - begun) / 60_000
  process.stdout.write(
    `\n${minutes.toFixed(1)} minutes. Written to ${saveResults(each, { short, ...results })}\n`,
  )
}
