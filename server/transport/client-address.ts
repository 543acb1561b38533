import type { IncomingMessage } from "node:http"
import { isIP } from "node:net"
import proxyAddr from "proxy-addr"

/**
 * Whether the address is that of a proxy of the operator's. `hop` is 0 for the connection itself,
 * and grows towards the client.
 */
export type TrustsProxy = (address: string, hop: number) => boolean

/**
 * The network address of the client, which it cannot choose: the connection's, or the one that the
 * outermost of the operator's own proxies saw. An IPv4 address is always written as one.
 */
export function clientAddressOf(incoming: IncomingMessage, trustsProxy: TrustsProxy | null): string {
  const hops = trustsProxy ? proxyAddr.all(incoming, trustsProxy) : [incoming.socket.remoteAddress ?? ""]
  // A proxy may append a port, or write a word in place of an address it hides.
  return hops.map(bareAddress).findLast((address) => isIP(address) !== 0) ?? "unknown"
}

/**
 * What one household or one host has of addresses, so that they count as one: one of IPv4, the
 * first half of one of IPv6.
 */
export function networkOf(address: string): string {
  const bare = bareAddress(address)
  if (!bare.includes(":")) return bare
  const [before = "", after] = bare.split("::")
  const head = before.split(":")
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

/**
 * Without a port, the brackets that go with one, and the prefix under which IPv6 carries an address
 * of IPv4.
 */
function bareAddress(address: string): string {
  const [, bracketed, dotted] = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(address) ?? []
  return (bracketed ?? dotted ?? address).replace(/^::ffff:(?=[\d.]+$)/i, "")
}
