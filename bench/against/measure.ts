import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import postgres from "postgres"
import { startEmbeddedPostgres } from "#db/embedded/postgres.ts"
import { measureBurst, measureIdle, measureSteady, warmUp, withTrial } from "../chat/trial.ts"
import { inTurn } from "../http/stage.ts"
import type { Figures, Measured } from "../medians.ts"
import { rounded } from "../print.ts"
import { describeMachine } from "../results.ts"
import { withBuilds, type Build } from "./builds.ts"
import { measurePages } from "./pages.ts"
import { measureQuestions } from "./questions.ts"
import { report } from "./report.ts"

const ROUNDS = 5
const SHORT_ROUNDS = 2

/** Seconds that each load takes. */
const FULL = 5
const SHORT = 2

/**
 * Measures this build and that of another commit in turn on one PostgreSQL, each with a database of
 * its own. `commit` is what Git calls it, or a folder in which it is built already. The exit code is
 * 1 if a figure of this build is more than a tenth worse. Linux only.
 */
export async function measureAgainst(
  { short }: { short: boolean },
  commit: string | undefined,
): Promise<object> {
  if (!commit) throw new Error("Name the other commit: npm run bench -- against v1.2.0")
  return withBuilds(commit, async (builds) => {
    const machine = describeMachine()
    const folder = mkdtempSync(join(tmpdir(), "tideline-bench-"))
    const cluster = await startEmbeddedPostgres({ directory: join(folder, "postgres") })
    try {
      const admin = postgres(cluster.url, { max: 1, onnotice() {} })
      for (const build of Object.keys(builds)) await admin`create database ${admin(build)}`
      await admin.end()
      const rounds = short ? SHORT_ROUNDS : ROUNDS
      const measured: Measured<Build>[] = []
      for (let round = 0; round < rounds; round++)
        for (const build of inTurn(Object.keys(builds) as Build[], round))
          measured.push(...(await measureOne(build)))
      return { machine, commit, rounds, medians: report(measured), measured }
    } finally {
      await cluster.stop()
      rmSync(folder, { recursive: true, force: true })
    }

    async function measureOne(build: Build): Promise<Measured<Build>[]> {
      const seconds = short ? SHORT : FULL
      const database = new URL(cluster.url)
      database.pathname = `/${build}`
      const stage = {
        databaseUrl: database.href,
        postmaster: cluster.pid,
        folder,
        server: builds[build],
      }
      const measured: Measured<Build>[] = []
      const keep = (what: string, figures: Figures) => {
        measured.push({ candidate: build, what, figures })
        process.stderr.write(`${build}, ${what}: ${JSON.stringify(figures, rounded)}\n`)
      }
      for (const [what, figures] of await measurePages(stage, seconds)) keep(what, figures)
      keep("100 questions of one person at once", await measureQuestions(stage))
      await withTrial(stage, "tideline", async (trial) => {
        await warmUp(trial)
        keep("nobody", await measureIdle(trial, seconds))
        keep("50 streams", await measureSteady(trial, 50, seconds))
        keep("200 streams that begin at once", await measureBurst(trial, 200))
      })
      return measured
    }
  })
}
