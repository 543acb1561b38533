import type { ActivityReport } from "#server/realtime/activity.ts"
import type { Scope } from "#server/scope.ts"

export interface LiveActivity extends ActivityReport {
  /** The number of the process that it is about. */
  process: number
}

/** The activity of each live query in this process, now and in the last hour. */
export function findLiveActivity({ live, turns }: Scope<"live" | "turns">): LiveActivity {
  return { process: turns.process, ...live.activity() }
}
