import { useState } from "react"
import { useRevalidator } from "react-router"
import { useToast } from "#app/ui/toast.tsx"
import type { FileSummary } from "#server/files/contract.ts"

/** Sends chosen files one after the other. `added` are those that arrived; one that does not is told in a toast. */
export function useQuickUpload() {
  const { revalidate } = useRevalidator()
  const { show } = useToast()
  const [sending, setSending] = useState<string>()
  const [added, setAdded] = useState<FileSummary[]>([])

  async function upload(chosen: File[]) {
    const taken: FileSummary[] = []
    for (const file of chosen) {
      setSending(file.name)
      const outcome = await sendFile(file)
      if (typeof outcome === "string")
        show({ tone: "danger", title: `${file.name} was not added`, description: outcome })
      else taken.push(...outcome)
    }
    setAdded((before) => [...before, ...taken])
    setSending(undefined)
    const arrived = taken.length === 1 ? taken[0]?.fileName : `${taken.length} files`
    if (taken.length > 0) show({ title: `${arrived} added` })
    await revalidate()
  }
  return { upload, added, sending }
}

/** The file as it was taken in, or why it was not. */
async function sendFile(file: File): Promise<FileSummary[] | string> {
  const address = `/api/files?${new URLSearchParams({ name: file.name })}`
  try {
    const response = await fetch(address, {
      method: "POST",
      headers: { "content-type": file.type || "application/octet-stream" },
      body: file,
    })
    const answer = (await response.json()) as { files: FileSummary[] } | { error: string }
    return "files" in answer ? answer.files : answer.error
  } catch {
    return "It did not get through. Look at your connection, and try again."
  }
}
