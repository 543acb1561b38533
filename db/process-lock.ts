import { randomInt } from "node:crypto"
import postgres from "postgres"

/** The first half of the advisory locks by which processes show that they live. */
export const PROCESS_LOCKS = 7_185_392

/**
 * Takes an advisory lock that is free again at the moment this process, or its connection, dies: no heartbeat, and no clock.
 * `number` names the process. `regained` is called when the lock was lost with PostgreSQL and has been taken again.
 */
export async function holdProcessLock(url: string, regained: () => Promise<void>) {
  const number = randomInt(1, 2 ** 31)
  let closed = false
  let held = true
  const client = postgres(url, {
    max: 1,
    idle_timeout: 0,
    max_lifetime: null,
    fetch_types: false, // nobody hears of its failure, when the connection is lost so early, but the process ends
    onnotice: () => {},
    connection: { application_name: "tideline process lock" },
    onclose: () => {
      held = false
    },
  })
  const lock = () => client`select pg_advisory_lock(${PROCESS_LOCKS}::int, ${number}::int)`
  await lock()
  const watch = setInterval(() => {
    if (held || closed) return
    held = true
    lock()
      .then(regained)
      .catch(() => (held = false))
  }, 1000)
  watch.unref()
  return {
    number,
    async close() {
      closed = true
      clearInterval(watch)
      await client.end({ timeout: 1 })
    },
  }
}
