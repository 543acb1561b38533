import { useLive } from "#live/react"
import { usageOf, type FileUsage, type StoredUsage } from "#server/files/contract.ts"
import type { PlanLimits } from "#server/plans/contract.ts"
import type { Loaded } from "#live/contract"

/** The storage used by the user's files, live. */
export function useUsage(
  loaded: Loaded<StoredUsage>,
  limits: Pick<PlanLimits, "quota" | "files">,
): FileUsage {
  const [stored] = useLive(loaded)
  return usageOf(stored, limits)
}
