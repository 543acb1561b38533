import { setTimeout as pause } from "node:timers/promises"
import { hostInUrl, openPostgres, reasonOf, serversOf } from "#live/check"
import { formatBytes } from "#server/text-contract.ts"

/** What a server says of itself. */
export type Member = { name: string } & (
  | { state: "silent"; reason: string }
  | ({ state: "primary" } & Place)
  | ({
      state: "standby"
      /** Why it may have more of the log than `position`; null if that is all it has. */
      unread: string | null
    } & Place)
)

interface Place {
  system: string
  timeline: number
  /** Bytes of log, from its beginning. */
  position: bigint
}

/** Which standby to promote, and why; or why that cannot be known. */
export interface Choice {
  promote: string | null
  text: string
}

/** Milliseconds: for how long a standby may not have replayed what it has, and between two looks. */
const REPLAY_TIMEOUT = 20_000
const BETWEEN_LOOKS = 100

/** Asks the servers, whose names are their hosts and ports. */
export function askMembers(urls: readonly string[]): Promise<Member[]> {
  return Promise.all(
    urls.map(async (url): Promise<Member> => {
      const name = nameOf(url)
      try {
        return { name, ...(await askUntilRead(url)) }
      } catch (error) {
        return { name, state: "silent", reason: reasonOf(error) }
      }
    }),
  )
}

function nameOf(url: string): string {
  const [server] = serversOf(url)
  if (!server) throw new Error("A URL of FOLLOW_DATABASE_URL names no server.")
  return `${hostInUrl(server.host)}:${server.port}`
}

async function askUntilRead(url: string) {
  const client = openPostgres(url, { max: 1, onnotice: () => {}, connect_timeout: 5 })
  try {
    for (const begun = performance.now(); ; await pause(BETWEEN_LOOKS)) {
      const answer = await ask(client)
      if (answer.state === "primary" || answer.unread === null || !answer.isReplaying) return answer
      if (performance.now() - begun > REPLAY_TIMEOUT) return answer
    }
  } finally {
    await client.end({ timeout: 1 })
  }
}

async function ask(client: ReturnType<typeof openPostgres>) {
  const [row] = await client<
    [
      {
        isStandby: boolean
        system: string
        timeline: number
        position: string
        maySee: boolean
        waits: string | null
      },
    ]
  >`
    select pg_is_in_recovery() as "isStandby", (select system_identifier::text from pg_control_system()) as system,
      greatest((select timeline_id from pg_control_checkpoint()), (select min_recovery_end_timeline from pg_control_recovery()),
        (select received_tli from pg_stat_wal_receiver)) as timeline,
      (case when pg_is_in_recovery() then greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())
        else pg_current_wal_lsn() end - '0/0')::text as position,
      pg_has_role('pg_read_all_stats', 'usage') as "maySee",
      (select wait_event from pg_stat_activity where backend_type = 'startup') as waits`
  const { isStandby, maySee, position, waits, ...where } = row
  const place = { ...where, position: BigInt(position) }
  if (!isStandby) return { state: "primary" as const, ...place }
  const hasReadAll = waits !== null && WAITS_FOR_MORE.has(waits)
  const reason = !maySee
    ? "the role may not see whether it has read all of its log: GRANT pg_read_all_stats to it, or name another role"
    : `it has not read all of its log yet (${waits ?? "it reads"})${waits === "RecoveryPause" ? ": select pg_wal_replay_resume()" : ""}`
  // A pause or a delay ends when somebody wants it to.
  const isReplaying = maySee && waits !== "RecoveryPause" && waits !== "RecoveryApplyDelay"
  return { state: "standby" as const, ...place, unread: hasReadAll ? null : reason, isReplaying }
}

/**
 * What the process that replays waits for once there is nothing left to replay. Before that, after a
 * restart, a standby has log on its disk that neither of its positions counts.
 */
const WAITS_FOR_MORE = new Set(["RecoveryWalStream", "RecoveryRetrieveRetryInterval"])

/**
 * The standby that has everything that the others have. `without` names servers that are lost for
 * good, whatever only they had.
 */
export function chooseStandby(members: readonly Member[], without: readonly string[]): Choice {
  const asked = members.filter(({ name }) => !without.includes(name))
  const primary = asked.find(({ state }) => state === "primary")
  if (primary)
    return unknown(
      `${primary.name} accepts writes. Nothing has to be promoted; to replace it, stop it first.`,
    )
  const silent = asked.filter((member) => member.state === "silent")
  const standbys = asked.filter((member) => member.state === "standby")
  if (silent.length + without.length > 1 && silent.length > 0)
    return unknown(
      `${silent.map(({ name }) => name).join(" and ")} do not answer. One was the primary, and any other may have commits that nobody else has. ` +
        "Start them; or if one is lost for good, name it: npm run standbys -- --without host:port",
    )
  const [first] = standbys
  if (!first) return unknown("No standby answers.")
  if (standbys.some(({ system }) => system !== first.system))
    return unknown("The servers are not copies of one database: their system identifiers differ.")
  if (standbys.some(({ timeline }) => timeline !== first.timeline))
    return unknown(
      "The standbys are on different timelines: one of them followed a server that was promoted before. " +
        `Find out which primary took the last writes; only standbys of timeline ${Math.max(...standbys.map(({ timeline }) => timeline))} can have followed the last one.`,
    )
  const unread = standbys.find((standby) => standby.unread !== null)
  if (unread) return unknown(`${unread.name} may have more than it says: ${unread.unread}.`)
  const sorted = standbys.toSorted((one, other) => Number(other.position - one.position))
  const [best, next] = [sorted[0] ?? first, sorted[1]]
  return {
    promote: best.name,
    text: `Promote ${best.name}: ${comparison(best, next)} Make sure that the old primary is stopped, and run there: select pg_promote()`,
  }
}

const unknown = (text: string): Choice => ({ promote: null, text })

function comparison(best: Place, next: Place | undefined): string {
  if (!next) return "it is the only standby."
  const more = Number(best.position - next.position)
  if (more === 0) return "no other has more; those with the same position are as good."
  return `it has all that the others have, and ${formatBytes(more)} more.`
}

/** Refuses a choice if a standby received more in the meantime. */
export function refuseMoved(before: readonly Member[], after: readonly Member[]): Choice | null {
  for (const [at, member] of after.entries()) {
    const earlier = before[at]
    if (member.state !== "standby" || earlier?.state !== "standby") continue
    if (member.position !== earlier.position || member.timeline !== earlier.timeline)
      return {
        promote: null,
        text: `${member.name} still receives from a primary. Stop the old primary first, and ask again.`,
      }
  }
  return null
}

/** Such as `0/5019C30`. */
export function formatPosition(position: bigint): string {
  return `${(position >> 32n).toString(16)}/${(position & 0xffffffffn).toString(16)}`.toUpperCase()
}
