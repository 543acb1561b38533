import { useState } from "react"
import type { EntryPage } from "#server/chat/contract.ts"

/** The messages before the page that was loaded, asked for one page at a time. */
export function useEarlier(threadId: string, latest: EntryPage) {
  const [loaded, setLoaded] = useState<EntryPage | null>(null)
  const [state, setState] = useState<"idle" | "pending" | "failed">("idle")
  const cursor = loaded ? loaded.earlierCursor : latest.earlierCursor
  const shown = new Set(latest.entries.map(({ _id }) => _id))

  async function load() {
    setState("pending")
    try {
      const response = await fetch(`/api/chat/threads/${threadId}/messages?cursor=${cursor ?? ""}`)
      if (!response.ok) throw new Error(`The list answered ${response.status}.`)
      const page = (await response.json()) as EntryPage
      setLoaded({ ...page, entries: [...page.entries, ...(loaded?.entries ?? latest.entries)] })
      setState("idle")
    } catch {
      setState("failed")
    }
  }
  return {
    entries: loaded
      ? [...loaded.entries.filter(({ _id }) => !shown.has(_id)), ...latest.entries]
      : latest.entries,
    earlier: {
      exist: cursor !== null,
      pending: state === "pending",
      failed: state === "failed",
      load: () => void load(),
    },
  }
}
