/** How an attempt to send ended. */
export type Outcome =
  | { end: "stored" }
  /** The server will say the same next time. `reason` is for the person. */
  | { end: "refused"; status: number; reason: string }
  /** The server has nothing of it any more: it begins anew. */
  | { end: "gone" }
  /** No answer, or one that may be another soon. */
  | { end: "lost"; status: number }

/** `status` 0 is no answer. */
export function outcomeOf(status: number, body: string): Outcome {
  if (isPassing(status)) return { end: "lost", status }
  return { end: "refused", status, reason: describeRefusal(status, body) }
}

/** A lock that is held, too many requests, a server that restarts: all of these go by. */
function isPassing(status: number): boolean {
  return status === 0 || [408, 409, 423, 425, 429].includes(status) || (status >= 500 && status !== 507)
}

function describeRefusal(status: number, body: string): string {
  if (status === 401)
    return "You are signed out. Sign in again in another tab, then try again: what has arrived is kept."
  const said = readError(body)
  if (said) return said
  if (status === 413) return "It is larger than a file may be here. Make it smaller, or send it in parts."
  if (status === 415) return "Files of this type are not taken. Send it as another type, a zip for example."
  if (status === 507) return "There is no room for it. Empty the trash or delete something, then try again."
  if (status === 404 || status === 410) return "The server no longer knows this upload. Send the file again."
  return `The server did not take it (${status}). Try again in a moment.`
}

/** Our own words for it. A proxy that answers in our place has none. */
function readError(body: string): string | undefined {
  try {
    const answer: unknown = JSON.parse(body)
    if (typeof answer === "object" && answer !== null && "error" in answer) return String(answer.error)
  } catch {
    // A page of HTML, or nothing.
  }
  return undefined
}
