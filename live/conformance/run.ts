import { startClient, type ClientProcess } from "./client-process.ts"
import { startScriptedServer } from "./scripted-server.ts"
import { situationsOfCalls } from "./situations-of-calls.ts"
import { situationsOfConnections } from "./situations-of-connections.ts"
import { situationsOfRows, type Situations } from "./situations-of-rows.ts"
import { setStage } from "./stage.ts"

export const SITUATIONS: Situations = {
  ...situationsOfRows,
  ...situationsOfConnections,
  ...situationsOfCalls,
}

export interface Verdict {
  situation: string
  /** How the client violated the protocol; null if it passed. */
  failure: string | null
}

/**
 * Runs the situations with the client that `command` starts, one after the other, and reports each
 * verdict immediately. `wanted` chooses situations by a part of their names.
 */
export async function judgeClient(
  command: readonly string[],
  report: (verdict: Verdict) => void,
  wanted = "",
): Promise<Verdict[]> {
  const server = await startScriptedServer()
  const verdicts: Verdict[] = []
  let client: ClientProcess | null = null
  try {
    for (const [situation, play] of Object.entries(SITUATIONS)) {
      if (!situation.includes(wanted)) continue
      client ??= startClient(command, server.origin)
      let failure: string | null = null
      try {
        await Promise.race([play(setStage(server, client)), client.ended])
      } catch (error) {
        failure = error instanceof Error ? error.message : String(error)
      }
      const verdict = { situation, failure }
      verdicts.push(verdict)
      report(verdict)
      // A client that failed may be in any state.
      if (failure !== null || !(await startedOver(client))) {
        await client.stop()
        client = null
      }
      server.clear()
    }
  } finally {
    await client?.stop()
    await server.close()
  }
  return verdicts
}

/** Whether the client has forgotten the situation. */
async function startedOver(client: ClientProcess): Promise<boolean> {
  try {
    client.tell({ do: "restart" })
    return Object.keys((await client.state()).rows).length === 0
  } catch {
    return false
  }
}
