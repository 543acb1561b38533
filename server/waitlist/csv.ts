import type { WaitlistRow } from "#db/schema/waitlist.ts"

/**
 * RFC 4180, with a header line. Accepted email addresses contain no quotation mark and no comma.
 */
export function writeCsv(places: readonly WaitlistRow[]): string {
  const lines = places.map(({ email, _creationTime, confirmedAt, invitedAt, joinedAt }) =>
    [email, ...[_creationTime, confirmedAt, invitedAt, joinedAt].map(moment)].join(","),
  )
  return ["email,asked_at,confirmed_at,invited_at,joined_at", ...lines].join("\r\n")
}

function moment(at: number | null): string {
  return at === null ? "" : new Date(at).toISOString()
}
