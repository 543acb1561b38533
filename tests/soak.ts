/**
 * Kills processes and the database at random under a mixed load, for as long as is wanted, and
 * looks whether anything was lost:
 *
 *     npm run soak -- --minutes 10
 *     npm run soak -- --minutes 10 --seed 4711
 *
 * The seed chooses the same deeds and faults again, though not the same timing.
 */
import { spawnSync } from "node:child_process"
import { resolve } from "node:path"
import { parseArgs } from "node:util"

const root = resolve(import.meta.dirname, "..")
const { values } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, seed: { type: "string" } },
})

if (!(Number(values.minutes) > 0)) {
  process.stderr.write("Say for how many minutes: npm run soak -- --minutes 10\n")
  process.exit(1)
}
const { status } = spawnSync(
  process.execPath,
  [resolve(root, "node_modules/vitest/vitest.mjs"), "run", "tests/process/soak.test.ts"],
  {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, SOAK_MINUTES: values.minutes, ...(values.seed && { SEED: values.seed }) },
  },
)
process.exitCode = status ?? 1
