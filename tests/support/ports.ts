import { once } from "node:events"
import { createServer } from "node:net"
import { WORKERS } from "./workers.ts"

/**
 * Below the ephemeral port range: any of thousands of outgoing connections could take a port from
 * it between the check and the start of the server.
 */
const FIRST = 20_000
const LAST = 32_000

/** One range for each worker, so that two do not find the same port. Workers count from 1. */
const PLACES = WORKERS + 1
const OF_EACH = Math.floor((LAST - FIRST) / PLACES)

let next = Math.floor(Math.random() * OF_EACH)

export async function findFreePort(): Promise<number> {
  const place = Number(process.env["VITEST_POOL_ID"] ?? 0) % PLACES
  for (;;) {
    const port = FIRST + place * OF_EACH + (next++ % OF_EACH)
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, "127.0.0.1")
  try {
    await once(probe, "listening")
  } catch {
    return false
  }
  probe.close()
  await once(probe, "close")
  return true
}
