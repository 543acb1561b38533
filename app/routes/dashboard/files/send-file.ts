export interface Sending {
  /** Never rejects. */
  outcome: Promise<{ state: "done" } | { state: "failed"; reason: string }>
  cancel: () => void
}

/** Posts one file as the body, straight from the disk. `fetch` could not say how much is sent. */
export function sendFile(file: File, onProgress: (sent: number) => void): Sending {
  const request = new XMLHttpRequest()
  const outcome = new Promise<Awaited<Sending["outcome"]>>((resolve) => {
    const fail = (reason: string) => () => resolve({ state: "failed", reason })
    request.upload.addEventListener("progress", (event) => onProgress(event.loaded))
    request.addEventListener("load", () => {
      if (request.status === 201) resolve({ state: "done" })
      else fail(describeRefusal(request))()
    })
    request.addEventListener("error", fail("The connection was lost. Check it, then try again."))
    request.addEventListener("abort", fail("It was cancelled."))
  })
  request.open("POST", `/api/files?name=${encodeURIComponent(file.name)}`)
  request.setRequestHeader("Content-Type", "application/octet-stream")
  request.send(file)
  return { outcome, cancel: () => request.abort() }
}

function describeRefusal({ status, responseText }: XMLHttpRequest): string {
  if (status === 401) return "You are signed out. Sign in again, then try again."
  try {
    const answer: unknown = JSON.parse(responseText)
    if (typeof answer === "object" && answer !== null && "error" in answer) return String(answer.error)
  } catch {
    // A proxy answered, not we.
  }
  return `The server could not take it (${status}). Try again in a moment.`
}
