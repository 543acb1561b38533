import { measureAgainst } from "./against/measure.ts"
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
// a name runs the short form of all benches, one after the other. npm run bench -- against <commit>
// compares this build with that of another commit.

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

const [name, commit] = process.argv.slice(2)
const chosen = name === undefined ? benches : name === "against" ? { against } : { [name]: benches[name] }
const short = name === undefined || process.env["BENCH_SHORT"] === "1"
for (const [each, bench] of Object.entries(chosen)) {
  if (!bench) {
    process.stderr.write(`Say what to measure: npm run bench -- ${Object.keys(benches).join("|")}|against\n`)
    process.exit(1)
  }
  const begun = performance.now()
  process.stdout.write(`\n# ${each}\n`)
  const results = await bench({ short })
  const minutes = (performance.now() - begun) / 60_000
  process.stdout.write(
    `\n${minutes.toFixed(1)} minutes. Written to ${saveResults(each, { short, ...results })}\n`,
  )
}

function against(options: { short: boolean }): Promise<object> {
  return measureAgainst(options, commit)
}
