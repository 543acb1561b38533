import type { WaitlistRow } from "#db/schema/waitlist.ts"

/**
 * RFC 4180, with a header line. Accepted email addresses contain no quotation mark and no comma.
 */
export async function* writeCsv(places: AsyncIterable<WaitlistRow>): AsyncGenerator<string> {
  yield "email,asked_at,confirmed_at,invited_at,joined_at\r\n"
  for await (const { email, _creationTime, confirmedAt, invitedAt, joinedAt } of places)
    yield `${[email, ...[_creationTime, confirmedAt, invitedAt, joinedAt].map(moment)].join(",")}\r\n`
}

function moment(at: number | null): string {
  return at === null ? "" : new Date(at).toISOString()
}
