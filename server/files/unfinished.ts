import { isNotNull, lt, sql } from "drizzle-orm"
import { uploads } from "#db/schema/files.ts"
import type { Scope } from "#server/scope.ts"
import { formatBytes } from "#server/text-contract.ts"

/** What unfinished uploads hold at the moment, as sentences for the operator. */
export async function describeUnfinished({
  db,
  blobs: store,
  config,
}: Scope<"db" | "blobs" | "config">): Promise<string[]> {
  const isOver = lt(uploads.expiresAt, Date.now())
  const [held] = await db
    .select({
      count: sql<number>`count(*)::float8`,
      people: sql<number>`count(distinct ${uploads.userId})::float8`,
      reserved: sql<number>`coalesce(sum(${uploads.reserved}), 0)::float8`,
      over: sql<number>`count(*) filter (where ${isOver})::float8`,
      last: sql<number>`coalesce(max(${uploads.expiresAt}), 0)::float8`,
    })
    .from(uploads)
    .where(isNotNull(uploads.key))
  const named = new Set(
    (await db.select({ key: uploads.key }).from(uploads).where(isNotNull(uploads.key))).map(({ key }) => key),
  )
  const stored = { entries: 0, bytes: 0 }
  const left = { entries: 0, bytes: 0 }
  for await (const { key, size } of store.list("unfinished")) {
    const sum = named.has(key) ? stored : left
    sum.entries++
    sum.bytes += size
  }
  const lines: string[] = []
  if (held && held.count > 0)
    lines.push(
      `${count(held.count, "unfinished upload")} of ${count(held.people, "person", "people")}: ${formatBytes(held.reserved)} reserved (limit ${formatBytes(config.files.unfinishedLimit)}), ${formatBytes(stored.bytes)} received. ${held.over} past their time; the last one ends ${new Date(held.last).toISOString()}.`,
    )
  if (left.entries > 0)
    lines.push(
      `${count(left.entries, "entry", "entries")} of no upload (${formatBytes(left.bytes)}), removed when an hour old.`,
    )
  return lines
}

function count(number: number, one: string, many = `${one}s`) {
  return `${number} ${number === 1 ? one : many}`
}
