import postgres from "postgres"
import { expect, onTestFinished } from "vitest"
import { openPostgres, readDatabaseUrl } from "#live/check"
import type { ReplicaNode } from "#db/embedded/replica-node.ts"
import type { RealtimeLimits } from "../../../live/server/limits.ts"
import type { RealtimeOptions } from "../../../live/server/options.ts"
import { startTestReplicaSet } from "../../support/replica-set.ts"
import { ReferenceClient } from "./client.ts"
import { startEngine, type Engine } from "./engine.ts"
import { SCHEMA, type Scope, type Viewer } from "./tables.ts"

/** Limits under which a standby is passed over, and returned to, within a second. */
export const SWIFT = { anchorMs: 300, followLagMs: 500, followSettleMs: 700, reportMs: 1000 }

/** A primary and two standbys with the tables of these tests, for one test to mistreat. */
export async function startReplicas(settings: Record<string, string> = {}) {
  const logged: { name: string; line: string }[] = []
  const onLog = (name: string, line: string) => void logged.push({ name, line })
  const set = await startTestReplicaSet({ standbys: 2, settings, onLog })
  const sql = postgres(set.primary.url, { max: 1, onnotice: () => {} })
  await sql.unsafe(SCHEMA)
  await sql.end()

  const databaseUrl = readDatabaseUrl(set.url) ?? set.url
  return Object.assign(set, {
    databaseUrl,
    /** Statements on one node, over a connection that ends with them. */
    async on<Result>(node: ReplicaNode, work: (sql: postgres.Sql) => Promise<Result>): Promise<Result> {
      const connection = openPostgres(node.url, { max: 1, onnotice: () => {}, connect_timeout: 30 })
      try {
        return await work(connection)
      } finally {
        await connection.end({ timeout: 0 }).catch(() => {})
      }
    },
    /** The processes that read the log of this node. */
    readersOf(node: ReplicaNode) {
      return this.on(
        node,
        (connection) =>
          connection`select 1 from pg_stat_replication where application_name = 'realtime stream'`,
      )
    },
    /** The standby that the only process reads from, and the other. It began at the one that answered first. */
    async findSource(): Promise<[source: ReplicaNode, other: ReplicaNode]> {
      const [one, other] = set.standbys as [ReplicaNode, ReplicaNode]
      const isRead = async () => {
        const readers = await Promise.all([this.readersOf(one), this.readersOf(other)])
        return readers.map(({ length }) => length).join(" and ")
      }
      await expect.poll(isRead, { timeout: 20_000 }).toMatch(/^(1 and 0|0 and 1)$/)
      return (await isRead()) === "1 and 0" ? [one, other] : [other, one]
    },
    /** What a node logs from now on. */
    linesOf({ name }: ReplicaNode): () => string[] {
      const from = logged.length
      return () => logged.slice(from).flatMap((each) => (each.name === name ? [each.line] : []))
    },
    /** An engine that reads from these nodes, until the test ends. */
    async engine(
      followed: readonly ReplicaNode[],
      others: Partial<RealtimeOptions<Viewer, Scope>> = {},
      limits: Partial<RealtimeLimits> = {},
    ): Promise<Engine> {
      const followUrls = followed.map(({ url }) => url)
      const engine = await startEngine(databaseUrl, { ...SWIFT, ...limits }, { followUrls, ...others })
      onTestFinished(() => engine.close())
      return engine
    },
    async client(engine: Pick<Engine, "url">, token = "ada") {
      const client = new ReferenceClient(engine.url, token)
      onTestFinished(() => client.close())
      await client.connect()
      return client
    },
  })
}

export type Replicas = Awaited<ReturnType<typeof startReplicas>>

/** Inserts messages at the primary, as ids that the test chose. */
export async function insert(replicas: Replicas, from: number, to: number, threadId = "t") {
  await replicas.on(
    replicas.primary,
    (sql) => sql`insert into messages (_id, thread_id, owner)
      select lpad(n::text, 8, '0'), ${threadId}, 'ada' from generate_series(${from}::int, ${to}::int) n`,
  )
}
