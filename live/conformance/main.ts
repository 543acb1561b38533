/**
 * Judges a client of the realtime protocol: starts it, plays situations with it from a scripted
 * server, and compares what it shows after each. Section 11 of docs/realtime-protocol.md has the contract.
 *
 *     npm run live:conformance -- python3 live/python/tideline_live.py --conformance
 *     npm run live:conformance -- --only reset <command that starts a client>
 */
import { judgeClient } from "./run.ts"

const given = process.argv.slice(2)
const wanted = given[0] === "--only" ? given.splice(0, 2)[1] : undefined

if (given.length === 0) {
  process.stderr.write("Name the command that starts a client: npm run live:conformance -- <command>\n")
  process.exitCode = 2
} else {
  const verdicts = await judgeClient(
    given,
    ({ situation, failure }) => {
      process.stdout.write(
        failure === null ? `ok    ${situation}\n` : `FAIL  ${situation}\n      ${failure}\n`,
      )
    },
    wanted,
  )
  const failed = verdicts.filter(({ failure }) => failure !== null).length
  process.stdout.write(`\n${verdicts.length - failed} of ${verdicts.length} situations passed.\n`)
  process.exitCode = failed > 0 || verdicts.length === 0 ? 1 : 0
}
