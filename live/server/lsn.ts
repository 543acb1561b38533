import type { Lsn } from "../protocol/contract.ts"

/** LSNs are bigints in the engine, 16 hexadecimal digits on the wire and `X/Y` in SQL. */

export function lsnToWire(lsn: bigint): Lsn {
  return lsn.toString(16).toUpperCase().padStart(16, "0")
}

export function lsnFromWire(text: Lsn): bigint {
  return BigInt(`0x${text}`)
}

export function lsnToSql(lsn: bigint): string {
  return `${(lsn >> 32n).toString(16).toUpperCase()}/${(lsn & 0xffff_ffffn).toString(16).toUpperCase()}`
}

export function lsnFromSql(text: string): bigint {
  const [high, low] = text.split("/")
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
}
