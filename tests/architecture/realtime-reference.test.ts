import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { PUBLISHED_LIMITS } from "#server/http/asyncapi/limits.ts"
import { referenceFile, writeReference } from "../../ops/realtime-reference.ts"

describe("the pages about the realtime protocol", () => {
  it("docs/realtime-reference.md matches the server's declarations (npm run reference writes it)", () => {
    const written = readFileSync(referenceFile, "utf8")
    expect(written).toMatch(/^### `files\.list`$/m)
    expect(written === writeReference()).toBe(true)
  })

  it("docs/realtime-protocol.md states the limits that the server enforces", () => {
    const page = readFileSync("docs/realtime-protocol.md", "utf8")
    for (const words of [
      `${limit("subscriptionsPerMessage")} in one message, ${limit("subscriptions")} on a connection`,
      `${limit("messagesPerSecond")} a second, ${limit("messageBurst")} at once`,
      `${limit("queriesRunning")} calls of \`query\` at the same time`,
      `${limit("rowsWithoutPages")} rows of a query without pages`,
      `${limit("floodMessages")} messages in a row over the limit`,
      `more than ${limit("eventsInFlight")} events or ${limit("bytesInFlight", 1024)} kB unacknowledged`,
      `may be ${limit("messageBytes", 1024)} kB (${limit("messageBytes")} bytes) at most`,
      `answered within ${limit("answerMs", 1000)} s`,
      `later than ${limit("handshakeMs", 1000)} s after the upgrade`,
      `${limit("membersListed")} at most, and \`count\``,
      `at most ${limit("channelMessageBytes")} bytes as JSON`,
      `Above ${limit("channelMessagesPerSecond")} messages a second of a connection, or ${limit("rangeMessagesPerSecond")} a second of a range`,
      `has not acknowledged ${limit("channelEventsInFlight")} of them`,
      `${limit("channelEventsHeld")} messages in total`,
      `no acknowledgement for ${limit("deadMs", 1000)} s while events waited`,
      `${limit("mutationIdMin")} to ${limit("mutationIdMax")} characters`,
      `first ${limit("shownNameLength")} characters`,
      `${limit("tokenGraceMs", 1000)} s later the server revokes everything`,
    ])
      expect(page).toContain(words)
  })
})

/** In a larger unit, as the page writes it. */
function limit(wanted: string, unit = 1): string {
  const found = PUBLISHED_LIMITS.find(({ name }) => name === wanted)
  if (!found) throw new Error(`No limit is called ${wanted}.`)
  return (found.value / unit).toLocaleString("en-GB")
}
