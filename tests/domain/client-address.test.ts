import type { IncomingMessage } from "node:http"
import { describe, expect, it } from "vitest"
import { clientAddressOf, networkOf, readTrustedProxies } from "#server/transport/client-address.ts"

describe("the client's address", () => {
  it("is the connection's own without a proxy, whatever the client claims", () => {
    expect(addressOf("0", "192.0.2.1", "198.51.100.7")).toBe("192.0.2.1")
    expect(addressOf("0", "::ffff:192.0.2.1", "198.51.100.7")).toBe("192.0.2.1")
  })

  it("is what the outermost of the configured number of proxies saw, not an earlier header value", () => {
    expect(addressOf("1", "10.0.0.9", "1.1.1.1, 198.51.100.7")).toBe("198.51.100.7")
    expect(addressOf("2", "10.0.0.9", "1.1.1.1, 198.51.100.7, 10.0.0.2")).toBe("198.51.100.7")
    expect(addressOf("2", "10.0.0.9", "1.1.1.1 ,198.51.100.7,10.0.0.2")).toBe("198.51.100.7")
  })

  it("is what the outermost proxy in the trusted networks saw, however many there are", () => {
    const networks = "10.0.0.0/8, fd00::/8, 203.0.113.5"
    expect(addressOf(networks, "10.0.0.9", "1.1.1.1, 198.51.100.7")).toBe("198.51.100.7")
    expect(addressOf(networks, "::ffff:10.0.0.9", "1.1.1.1, 198.51.100.7, 203.0.113.5, fd00::2")).toBe(
      "198.51.100.7",
    )
  })

  it("is the connection's own for clients that bypass the trusted networks", () => {
    expect(addressOf("10.0.0.0/8", "198.51.100.9", "1.1.1.1")).toBe("198.51.100.9")
    expect(addressOf("10.0.0.0/8", "198.51.100.9", "1.1.1.1, 10.0.0.2")).toBe("198.51.100.9")
  })

  it("knows the private networks by name", () => {
    expect(addressOf("uniquelocal", "172.18.0.4", "1.1.1.1, 198.51.100.7")).toBe("198.51.100.7")
    expect(addressOf("loopback", "127.0.0.1", "1.1.1.1, 198.51.100.7")).toBe("198.51.100.7")
    expect(addressOf("loopback", "172.18.0.4", "198.51.100.7")).toBe("172.18.0.4")
  })

  it("has no port, whatever a proxy appended", () => {
    expect(addressOf("1", "10.0.0.9", "198.51.100.7:4711")).toBe("198.51.100.7")
    expect(addressOf("1", "10.0.0.9", "[2001:db8::7]:4711")).toBe("2001:db8::7")
  })

  it("is that of the nearest known hop if a proxy omits or hides it", () => {
    expect(addressOf("1", "192.0.2.1", undefined)).toBe("192.0.2.1")
    expect(addressOf("1", "192.0.2.1", "unknown")).toBe("192.0.2.1")
    expect(addressOf("2", "192.0.2.1", "_hidden, 10.0.0.2")).toBe("10.0.0.2")
  })

  it("is unknown once the connection is closed", () => {
    expect(addressOf("0", undefined, "198.51.100.7")).toBe("unknown")
  })
})

describe("the rate-limit key of an address", () => {
  it("is a household's network in IPv6, and the single address in IPv4", () => {
    const home = "2001:db8:0:7"
    for (const address of ["2001:db8:0:7::1", "2001:db8:0:7:aaaa:bbbb:cccc:dddd", "2001:db8::7:0:0:0:1"])
      expect(networkOf(address), address).toBe(home)
    expect(networkOf("2001:db8:0:8::1")).not.toBe(home)
    expect([networkOf("::1"), networkOf("::"), networkOf("fe80::")]).toEqual([
      "0:0:0:0",
      "0:0:0:0",
      "fe80:0:0:0",
    ])
    expect(networkOf("::1")).not.toBe(networkOf("2001:db8::1"))
    expect(networkOf("::ffff:192.0.2.1")).not.toBe(networkOf("::ffff:192.0.2.2"))
    expect(networkOf("::ffff:192.0.2.1")).toBe(networkOf("192.0.2.1"))
  })
})

describe("TRUSTED_PROXIES", () => {
  it.each([
    "11",
    "-1",
    "1.5",
    "one",
    "10.0.0.0/33",
    "10.0.0.0/8;fd00::/8",
    "10.0.0.0/8,",
    "example.org",
    "private",
  ])("rejects %j, which is neither a number nor a network", (text) => {
    expect(readTrustedProxies(text)).toBeUndefined()
  })
})

function addressOf(proxies: string, remoteAddress: string | undefined, forwardedFor: string | undefined) {
  const trustsProxy = readTrustedProxies(proxies)
  if (trustsProxy === undefined) throw new Error(`${proxies} is not understood`)
  const headers = forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor }
  // The part of a request that is looked at.
  return clientAddressOf({ socket: { remoteAddress }, headers } as unknown as IncomingMessage, trustsProxy)
}
