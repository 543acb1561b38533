import { useRouteLoaderData } from "react-router"
import { useLive } from "#app/realtime/use-live.tsx"
import type { UserRecord } from "#server/users/contract.ts"
import type { loader } from "./layout.tsx"

/** The signed-in person's record, live, on any page of the dashboard group. */
export function useUser(): UserRecord {
  const data = useRouteLoaderData<typeof loader>("routes/dashboard/layout")
  if (!data) throw new Error("useUser was called outside routes/dashboard/layout.tsx.")
  const [user] = useLive(data.record)
  // Whose record is gone is shown the last one, until the server has sent them away.
  const record = user ?? data.record.rows[0]
  if (!record) throw new Error("A page of the dashboard was rendered without a record of its user.")
  return record
}
