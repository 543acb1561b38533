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
      `${limit("connectionsPerUser")} of a user, ${limit("connectionsPerAddress")} of an IP address`,
      `${limit("connections")} of a process`,
      `${limit("messagesPerSecond")} a second, ${limit("messageBurst")} at once`,
      `after ${limit("floodMessages")} in a row`,
      `${limit("subscriptionsPerMessage")} in one message, ${limit("subscriptions")} on a connection`,
      `more than ${limit("eventsInFlight")} events or ${limit("bytesInFlight", 1024)} kB unacknowledged`,
      `may be ${limit("messageBytes", 1024)} kB (${limit("messageBytes")} bytes) at most`,
      `answered within ${limit("answerMs", 1000)} s`,
      `later than ${limit("handshakeMs", 1000)} s after the upgrade`,
      `${limit("membersListed")} at most, and \`count\``,
      `Channels joined by a connection                | ${limit("channelsJoined")} `,
      `at most ${limit("channelMessageBytes")} bytes as JSON`,
      `${limit("channelMessagesPerSecond")} a second of a connection, ${limit("channelMessageBurst")} at once; ${limit("rangeMessagesPerSecond")} a second of one range`,
      `${limit("channelEventsInFlight")} unacknowledged, then ${limit("channelEventsHeld")} held back`,
      `${limit("commitBytesHeld", 1024 ** 2)} MB, or ${limit("stallMs", 1000)} s without an acknowledgement`,
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
