import { useLive } from "#live/react"
import type { Loaded } from "#live/contract"
import type { UserRecord } from "#server/users/contract.ts"

/**
 * The record that a loader returned, live. If the record is deleted, keeps returning the last one
 * until the server signs the user out.
 */
export function useRecord(loaded: Loaded<UserRecord>): UserRecord {
  const [live] = useLive(loaded)
  const record = live ?? loaded.rows[0]
  if (!record) throw new Error("A page of the dashboard was rendered without a record of its user.")
  return record
}
