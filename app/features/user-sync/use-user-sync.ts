import { useEffect, useRef } from "react"
import { useRevalidator } from "react-router"
import { isOutOfDate, type CreateOrUpdateUser, type UserRecord } from "#server/users/contract.ts"

/** Brings the record in step with the identity provider when the page opens, and whenever either says something new. */
export function useUserSync(record: UserRecord | null, provider: CreateOrUpdateUser): void {
  const { revalidate } = useRevalidator()
  const asked = useRef<string>(undefined)
  const values = isOutOfDate(record, provider) ? JSON.stringify(provider) : undefined

  useEffect(() => {
    // A server that refuses these values would refuse them again: each is asked for once.
    if (!values || values === asked.current) return
    asked.current = values
    // What was written comes back live. What was refused is out of date: the provider is asked again.
    void syncUser(values).then((written) => (written ? undefined : revalidate()))
  }, [values, revalidate])
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
