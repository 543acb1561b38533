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
    void syncUser(values).then((written) => (written ? revalidate() : undefined))
  }, [values, revalidate])
}

/** False when the server refused or could not be reached: the next visit tries again. */
async function syncUser(body: string): Promise<boolean> {
  const headers = { "content-type": "application/json" }
  try {
    const response = await fetch("/api/users/sync", { method: "POST", headers, body })
    return response.ok
  } catch {
    return false
  }
}
