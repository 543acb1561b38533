import type { IncomingMessage } from "node:http"
import { describe, expect, it } from "vitest"
import { addressOfUpgrade } from "#server/http/visit.ts"

/** As much of a request as is looked at. */
function upgrade(forwardedFor?: string) {
  const headers = forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor }
  return { socket: { remoteAddress: "192.0.2.1" }, headers } as unknown as IncomingMessage
}

describe("the address that a WebSocket comes from", () => {
  it("is the connection's own, whatever its sender claims, where no proxy stands in front", () => {
    expect(addressOfUpgrade(upgrade("198.51.100.7"), 0)).toBe("192.0.2.1")
  })

  it("is what the outermost of the operator's proxies saw, not what stood in the header before", () => {
    expect(addressOfUpgrade(upgrade("1.1.1.1, 198.51.100.7"), 1)).toBe("198.51.100.7")
    expect(addressOfUpgrade(upgrade("1.1.1.1, 198.51.100.7, 10.0.0.2"), 2)).toBe("198.51.100.7")
  })

  it("is the connection's own when the proxies said nothing", () => {
    expect(addressOfUpgrade(upgrade(), 1)).toBe("192.0.2.1")
  })
})
