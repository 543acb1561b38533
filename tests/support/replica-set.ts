import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startReplicaSet } from "#db/embedded/replica-set.ts"
import { findFreePort } from "./ports.ts"

/**
 * A primary and its standbys for one test to mistreat. Its processes fail here, never the machine,
 * so nothing is made durable. `stop` removes it.
 */
export async function startTestReplicaSet({
  standbys,
  settings = {},
  onLog,
}: {
  standbys: number
  settings?: Record<string, string>
  onLog?: (node: string, line: string) => void
}) {
  const directory = mkdtempSync(join(tmpdir(), "tideline-replicas-"))
  const ports: number[] = []
  for (let at = 0; at <= standbys; at++) ports.push(await findFreePort())
  const set = await startReplicaSet({
    directory,
    standbys,
    ports,
    settings: { fsync: "off", shared_buffers: "32MB", max_connections: "200", ...settings },
    ...(onLog && { onLog }),
  })
  const { stop } = set
  return Object.assign(set, {
    async stop() {
      await stop()
      rmSync(directory, { recursive: true, force: true })
    },
  })
}
