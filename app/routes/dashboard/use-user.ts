import { useRouteLoaderData } from "react-router"
import type { UserRecord } from "#server/users/contract.ts"
import type { loader } from "./layout.tsx"
import { useRecord } from "./use-record.ts"

/** The signed-in user's record, live, on any page of the dashboard group. */
export function useUser(): UserRecord {
  const data = useRouteLoaderData<typeof loader>("routes/dashboard/layout")
  if (!data) throw new Error("useUser was called outside routes/dashboard/layout.tsx.")
  return useRecord(data.record)
}
