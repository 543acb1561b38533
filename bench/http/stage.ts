import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startEmbeddedPostgres } from "#db/embedded/postgres.ts"
import { buildApp, isOutOfDate } from "#server/commands/bundle.ts"
import { describeMachine } from "../results.ts"
import { root, type Setting } from "./candidates.ts"
import { buildNext, installPeers } from "./peers.ts"
import { record, type Recorded } from "./record.ts"

interface Stage {
  setting: Setting
  recorded: Recorded
  machine: ReturnType<typeof describeMachine>
}

/**
 * Prepares what the candidates need: a database with rows, the builds, and the pages that the
 * others render.
 */
export async function withStage<Result>(work: (stage: Stage) => Promise<Result>): Promise<Result> {
  if (isOutOfDate(root)) await buildApp(root)
  const peers = installPeers()
  const folder = mkdtempSync(join(tmpdir(), "tideline-bench-"))
  const cluster = await startEmbeddedPostgres({ directory: join(folder, "postgres") })
  try {
    const recorded = await record({ databaseUrl: cluster.url, folder })
    const next = buildNext(recorded.bodies)
    const machine = describeMachine()
    const setting = { databaseUrl: cluster.url, folder, peers, next, recorded: recorded.recorded }
    return await work({ setting, recorded, machine })
  } finally {
    await cluster.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The order rotates with each round, so that no candidate always runs after the same one. */
export function inTurn<Candidate>(candidates: readonly Candidate[], round: number): Candidate[] {
  const first = round % candidates.length
  return [...candidates.slice(first), ...candidates.slice(0, first)]
}
