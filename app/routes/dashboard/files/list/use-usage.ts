import { useLive } from "#app/realtime/use-live.tsx"
import { usageOf, type FileUsage, type StoredUsage } from "#server/files/contract.ts"
import type { Loaded } from "#server/realtime/contract.ts"

/** The storage used by the user's files, live; `quota` is in bytes. */
export function useUsage(loaded: Loaded<StoredUsage>, quota: number): FileUsage {
  const [stored] = useLive(loaded)
  return usageOf(stored, quota)
}
