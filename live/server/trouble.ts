import type { RefusalText } from "../protocol/contract.ts"
import { tell } from "./refusal.ts"

/** The problem that the operator has to fix before PostgreSQL lets the stream begin. */
export interface Trouble extends RefusalText {
  /** Whether it ends when another process stops; otherwise only the operator can fix it. */
  readonly mayPass: boolean
}

/** Null for a problem that passes without the operator, such as an outage. */
export function findTrouble(error: unknown, databaseUrl: string): Trouble | null {
  if (!(error instanceof Error) || !("code" in error)) return null
  if (error.code === "42501" && /replication|wal sender/i.test(error.message)) {
    const role = roleOf(databaseUrl)
    return {
      ...tell("stream-forbidden", { role }),
      mayPass: false,
    }
  }
  // 53400: no free slot. 53300 also occurs for ordinary connections.
  if (error.code === "53400" || (error.code === "53300" && error.message.includes("max_wal_senders"))) {
    const setting = error.code === "53400" ? "max_replication_slots" : "max_wal_senders"
    return {
      ...tell("stream-without-slot", { setting }),
      mayPass: true,
    }
  }
  return null
}

function roleOf(databaseUrl: string): string {
  return decodeURIComponent(new URL(databaseUrl).username) || "of this address"
}
