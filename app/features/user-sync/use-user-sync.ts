import { useEffect, useRef } from "react"
import { useRevalidator } from "react-router"
import { isOutOfDate, type CreateOrUpdateUser, type UserRecord } from "#server/users/contract.ts"

/**
 * Brings the record in step with the identity provider when the page opens, and whenever either
 * says something new.
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
    // A server that refuses these values would refuse them again: each is asked for once.
    if (values === asked.current) return
    if (wasInStep.current) {
      // The record was written elsewhere, perhaps because the provider says something new: it is
      // asked first.
      wasInStep.current = false
      void revalidate()
      return
    }
    asked.current = values
    // What was written comes back live. What was refused is out of date: the provider is asked
    // again.
    void syncUser(values).then((written) => (written ? undefined : revalidate()))
  }, [record, provider, revalidate])
}

/** False when the server refused or could not be reached. */
async function syncUser(body: string): Promise<boolean> {
  const headers = { "content-type": "application/json" }
  try {
    const response = await fetch("/api/users/sync", { method: "POST", headers, body })
    return response.ok
  } catch {
    return false
  }
}
