import { useEffect, useRef } from "react"
import { useRevalidator } from "react-router"
import { isOutOfDate, type CreateOrUpdateUser, type UserRecord } from "#server/users/contract.ts"

/**
 * Synchronises the record with the identity provider when the page opens, and whenever either
 * changes.
 */
export function useUserSync(record: UserRecord | null, provider: CreateOrUpdateUser): void {
  const { revalidate } = useRevalidator()
  const asked = useRef<string>(undefined)
  const wasInStep = useRef(false)

  useEffect(() => {
    if (!isOutOfDate(record, provider)) {
      wasInStep.current = true
      return
    }
    const values = JSON.stringify(provider)
    // A server that refused these values would refuse them again, so each is sent once.
    if (values === asked.current) return
    if (wasInStep.current) {
      // The record was written elsewhere, perhaps because the provider's values have changed, so
      // load those first.
      wasInStep.current = false
      void revalidate()
      return
    }
    asked.current = values
    // A written record arrives live. Refused values are outdated, so load the provider's again.
    void syncUser(values).then((written) => (written ? undefined : revalidate()))
  }, [record, provider, revalidate])
}

/** False if the server refused the values or could not be reached. */
async function syncUser(body: string): Promise<boolean> {
  const headers = { "content-type": "application/json" }
  try {
    const response = await fetch("/api/users/sync", { method: "POST", headers, body })
    return response.ok
  } catch {
    return false
  }
}
