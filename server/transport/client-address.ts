import type { IncomingMessage } from "node:http"
import { isIP } from "node:net"
import proxyAddr from "proxy-addr"

/**
 * Whether the address is one of the operator's proxies. `hop` is 0 for the connection itself, and
 * grows towards the client.
 */
export type TrustsProxy = (address: string, hop: number) => boolean

/**
 * The network address of the client, which it cannot choose: the connection's, or the one that the
 * outermost of the operator's own proxies saw. IPv4 addresses are always written as such.
 */
export function clientAddressOf(incoming: IncomingMessage, trustsProxy: TrustsProxy | null): string {
  const hops = trustsProxy ? proxyAddr.all(incoming, trustsProxy) : [incoming.socket.remoteAddress ?? ""]
  // A proxy may append a port, or write a word instead of an address that it hides.
  return hops.map(bareAddress).findLast((address) => isIP(address) !== 0) ?? "unknown"
}

/**
 * The network of an address, so that all addresses of one household or host count as one: an IPv4
 * address, or the first half of an IPv6 address.
 */
export function networkOf(address: string): string {
  const bare = bareAddress(address)
  if (!bare.includes(":")) return bare
  const [before = "", after] = bare.split("::")
  const head = before.split(":").filter(Boolean)
  const tail = after?.split(":").filter(Boolean) ?? []
  const zeros = Array.from({ length: after === undefined ? 0 : 8 - head.length - tail.length }, () => "0")
  return [...head, ...zeros, ...tail].slice(0, 4).join(":")
}

/**
 * Parses TRUSTED_PROXIES: the number of proxies, or their networks separated by commas. Null for
 * none, undefined if invalid.
 */
export function readTrustedProxies(text: string): TrustsProxy | null | undefined {
  if (/^\d+$/.test(text)) {
    const count = Number(text)
    if (count > 10) return undefined
    return count === 0 ? null : (_address, hop) => hop < count
  }
  try {
    return proxyAddr.compile(text.split(",").map((network) => network.trim()))
  } catch {
    return undefined
  }
}

/** Removes a port, the brackets that go with one, and the IPv6 prefix of an IPv4 address. */
function bareAddress(address: string): string {
  const [, bracketed, dotted] = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(address) ?? []
  return (bracketed ?? dotted ?? address).replace(/^::ffff:(?=[\d.]+$)/i, "")
}
