import type { ActivityReport } from "#server/realtime/activity.ts"
import type { Scope } from "#server/scope.ts"

export interface LiveActivity extends ActivityReport {
  /** The number of the process that it is about. */
  process: number
}

/** What each live query does in this process now, and did in the last hour. */
export function findLiveActivity({ live, turns }: Scope<"live" | "turns">): LiveActivity {
  return { process: turns.process, ...live.activity() }
}
