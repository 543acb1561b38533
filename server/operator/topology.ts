import { sql } from "drizzle-orm"
import { livingProcesses } from "#db/process-lock.ts"
import { readServer } from "#server/ops/check-database.ts"
import type { Scope } from "#server/scope.ts"
import { listProcesses, type LivingProcess } from "./overview.ts"
import { findStreamPlace, type StreamPlace } from "./stream-place.ts"

/** The PostgreSQL server that this process writes to. */
export interface PrimaryState {
  /** Its own address and port; null if it is reached through a socket file. */
  address: string | null
  version: string
  timeline: number
  /** The end of its log, such as `0/3000148`. */
  position: string
  connections: Used
  slots: Used
  walsenders: Used
}

interface Used {
  used: number
  most: number
}

/** A server that receives the primary's log. */
export interface StandbyState {
  /** Its `application_name`; null if this role may not see it. */
  name: string | null
  address: string | null
  /** `streaming` once it has caught up. */
  state: string | null
  /** `async`, or whether commits wait for it: `sync`, `quorum`, `potential`. */
  sync: string | null
  /** What it has replayed, and so shows to readers. */
  position: string | null
  /** Bytes of log that it has not replayed. */
  behind: number | null
  /** Milliseconds from a commit until it was replayed there, when it was last measured. */
  lag: number | null
}

export interface ProcessState {
  number: number
  name: string
  isThisOne: boolean
  connections: number
  answers: number
  /** Null if the process did not report within a second. */
  stream: (StreamPlace & { behindPrimary: number }) | null
}

export interface SlotState {
  name: string
  isLogical: boolean
  isActive: boolean
  /** Whether it ends with the connection that made it. */
  isTemporary: boolean
  /** Bytes of log that PostgreSQL keeps for it. */
  kept: number
  /** `reserved`, `extended`, `unreserved` or `lost`. */
  status: string
}

export interface Topology {
  primary: PrimaryState
  standbys: StandbyState[]
  processes: ProcessState[]
  slots: SlotState[]
}

/** The servers and processes of the installation, as this process and the primary see them. */
export async function findTopology(
  scope: Scope<"activityExchange" | "db" | "live" | "turns">,
): Promise<Topology> {
  const { activityExchange, db, live, turns } = scope
  const living = await db.execute<{ objid: string }>(livingProcesses)
  const others = living.map(({ objid }) => Number(objid)).filter((number) => number !== turns.process)
  const reports = await activityExchange.ask(others)
  const [server, place, standbys, slots, processes] = await Promise.all([
    readServer(db),
    readPlace(scope),
    listStandbys(scope),
    listSlots(scope),
    listProcesses(scope),
  ])
  const own = findStreamPlace(live)
  return {
    primary: {
      address: place.address,
      version: server.version,
      timeline: Number.parseInt(place.timeline, 16),
      position: place.position,
      connections: { used: server.connectionsUsed, most: server.connections },
      slots: { used: server.slotsUsed, most: server.slots },
      walsenders: { used: server.sendersUsed, most: server.senders },
    },
    standbys,
    slots,
    processes: processes.map((each) =>
      placeProcess(each, each.isThisOne ? own : reports.get(each.number)?.stream, place.bytes),
    ),
  }
}

function placeProcess(each: LivingProcess, stream: StreamPlace | undefined, end: number): ProcessState {
  return { ...each, stream: stream ? { ...stream, behindPrimary: Math.max(0, end - stream.position) } : null }
}

async function readPlace({ db }: Scope<"db">) {
  const [place] = await db.execute<{
    address: string | null
    timeline: string
    position: string
    bytes: number
  }>(sql`
    select host(inet_server_addr()) || ':' || inet_server_port() as address,
      left(pg_walfile_name(lsn), 8) as timeline, lsn::text as position, (lsn - '0/0'::pg_lsn)::float8 as bytes
    from pg_current_wal_lsn() as lsn`)
  if (!place) throw new Error("PostgreSQL returned no row.")
  return place
}

/** A walsender with a logical slot serves a process; any other a standby or a backup. */
async function listStandbys({ db }: Scope<"db">): Promise<StandbyState[]> {
  const rows = await db.execute<StandbyState & { [name: string]: unknown }>(sql`
    select application_name as name, host(client_addr) as address, state, sync_state as sync,
      replay_lsn::text as position, pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::float8 as behind,
      (extract(epoch from replay_lag) * 1000)::float8 as lag
    from pg_stat_replication sender
    where coalesce(state, '') <> 'backup'
      and not exists (select from pg_replication_slots where active_pid = sender.pid and slot_type = 'logical')
    order by name, sender.pid`)
  return rows.map(({ name, address, state, sync, position, behind, lag }) => ({
    name,
    address,
    state,
    sync,
    position,
    behind: behind === null ? null : Math.max(0, behind),
    lag,
  }))
}

async function listSlots({ db }: Scope<"db">): Promise<SlotState[]> {
  const rows = await db.execute<SlotState & { [name: string]: unknown }>(sql`
    select slot_name as name, slot_type = 'logical' as "isLogical", active as "isActive", temporary as "isTemporary",
      coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::float8 as kept,
      coalesce(wal_status, 'lost') as status
    from pg_replication_slots order by temporary, slot_name`)
  return [...rows]
}
