import type { MessageDescriptor } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { i18nOfDocument } from "#app/language/i18n.ts"
import { refusalIn, sentencesIn } from "#app/language/sentences.ts"
import type { RefusalData } from "#server/refusal-contract.ts"

/** How an attempt to send ended. */
export type Outcome =
  | { end: "stored" }
  /** Another attempt would be refused as well. `reason` is shown to the user. */
  | { end: "refused"; status: number; reason: string }
  /** The server no longer has the upload: it starts over. */
  | { end: "gone" }
  /** No response, or a temporary error. */
  | { end: "lost"; status: number }

/** `status` is 0 if there was no response. */
export function outcomeOf(status: number, body: string): Outcome {
  if (isPassing(status) && !needsOperator(body)) return { end: "lost", status }
  return { end: "refused", status, reason: describeRefusal(status, body) }
}

/** A held lock, too many requests or a restarting server: all of these are temporary. */
function isPassing(status: number): boolean {
  return status === 0 || [408, 409, 423, 425, 429].includes(status) || (status >= 500 && status !== 507)
}

/** Whether somebody has to make the server's store writable first: sending again would show nothing. */
function needsOperator(body: string): boolean {
  return readRefusal(body)?.reason === "file-store-refuses"
}

function describeRefusal(status: number, body: string): string {
  const i18n = i18nOfDocument()
  const said = status === 401 ? null : readRefusal(body)
  return said ? sentencesIn(i18n)(said) : i18n._(textFor(status))
}

function textFor(status: number): MessageDescriptor {
  if (status === 401)
    return msg`You're signed out. Sign in again in another tab, then retry: what has been uploaded is kept.`
  if (status === 413)
    return msg`It's larger than the limit on this server. Make it smaller, or split it into parts.`
  if (status === 415)
    return msg`This type of file isn't accepted. Send it as another type, for example a zip.`
  if (status === 507) return msg`There isn't enough space. Empty the trash or delete files, then try again.`
  if (status === 404 || status === 410)
    return msg`The server no longer knows this upload. Send the file again.`
  return msg`The server didn't accept it (${status}). Try again in a moment.`
}

/** The message in our own error format. A proxy that responds in the server's place has none. */
function readRefusal(body: string): RefusalData | null {
  try {
    return refusalIn(JSON.parse(body))
  } catch {
    // Not JSON: an HTML page, or an empty body.
    return null
  }
}
