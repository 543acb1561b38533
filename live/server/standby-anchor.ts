import type { ConnectionPool } from "../postgres/connections.ts"
import { hasAnchor, type Anchor } from "./anchor.ts"
import type { Node } from "./node.ts"
import { openReplication } from "./replication.ts"

/** A slot that is not ready by then is begun again later. ms. */
const MAKING_MS = 15_000

/**
 * Makes sure that a standby has an anchor. A new slot there waits for the primary to write down which
 * transactions are running. That happens every 15 seconds while there are writes, and at once by a
 * function that a superuser can grant. Resolves with false if that was not granted.
 *
 * It is made by the replication protocol, without a transaction. In a statement it would keep a
 * snapshot, for which the standby may stop replaying the very log that the slot waits for; and while
 * it replays nothing, it can neither be promoted nor follow one that was.
 */
export async function ensureStandbyAnchor(
  { url, pool }: Pick<Node, "url" | "pool">,
  primary: ConnectionPool,
  anchor: Anchor,
): Promise<boolean> {
  if (await pool.useClient((sql) => hasAnchor(sql, anchor))) return true
  const connection = openReplication(url, "realtime anchor")
  const timer = setTimeout(() => void connection.end(), MAKING_MS)
  const asking = askForSnapshots(primary)
  try {
    await connection.makeSlot(anchor.name)
    return asking.isGranted()
  } finally {
    asking.stop()
    clearTimeout(timer)
    await connection.end()
  }
}

/** Asks again and again: the slot may need more than one, and the primary may just be changing. */
function askForSnapshots(primary: ConnectionPool) {
  let isGranted = true
  let pause = 20
  let timer = setTimeout(() => void ask(), pause)
  return {
    isGranted: () => isGranted,
    stop() {
      pause = 0
      clearTimeout(timer)
    },
  }

  async function ask(): Promise<void> {
    try {
      await primary.useClient((sql) => sql`select pg_log_standby_snapshot()`)
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "42501") isGranted = false
    }
    if (pause === 0 || !isGranted) return
    pause = Math.min(2 * pause, 500)
    timer = setTimeout(() => void ask(), pause)
  }
}
