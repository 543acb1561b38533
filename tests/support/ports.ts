import { once } from "node:events"
import { createServer } from "node:net"
import { WORKERS } from "./workers.ts"

/**
 * Below the ports that systems give to outgoing connections: such a one could be taken by any of
 * thousands between the look and the start of the server that it is for.
 */
const FIRST = 20_000
const LAST = 32_000

/**
 * For each process that tests beside others, so that two do not find the same. Workers count from
 * 1.
 */
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
