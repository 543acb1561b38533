import type { UserRecord } from "#server/users/contract.ts"
import { useRecord } from "./use-record.ts"
import { useViewer } from "./use-viewer.ts"

/** The signed-in user's record, live, on any page of the dashboard group. */
export function useUser(): UserRecord {
  return useRecord(useViewer().record)
}
