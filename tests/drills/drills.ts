import { loseBlob } from "./blob.ts"
import { loseClock } from "./clock.ts"
import { killDatabase, loseDatabase } from "./database.ts"
import { loseDisk } from "./disk.ts"
import type { Drill, Outcome } from "./drill.ts"
import { loseProcess } from "./process.ts"
import { loseSecret } from "./secret.ts"

export const DRILLS: readonly Drill[] = [
  loseProcess,
  killDatabase,
  loseDatabase,
  loseBlob,
  loseSecret,
  loseDisk,
  loseClock,
]

/** What it throws counts as a fault. */
export async function runDrill(drill: Drill): Promise<Outcome> {
  try {
    return await drill.run()
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error)
    return { seen: [], told: [], back: "none", milliseconds: 0, lost: "unknown", faults: [fault] }
  }
}
