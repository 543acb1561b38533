import { sql } from "drizzle-orm"
import * as v from "valibot"
import { releaseChecks } from "#db/schema/operator.ts"
import type { Config } from "#server/config.ts"
import { dataOfReason } from "#server/errors.ts"
import { createFailureLog } from "#server/log.ts"
import { databaseNow } from "#server/mail/outbox.ts"
import type { Concern } from "#server/ops/concerns.ts"
import { startRecurring, type Recurring } from "#server/recurring.ts"
import type { Scope } from "#server/scope.ts"

export interface Release {
  /** Such as `1.2.3`. */
  version: string
  /** The URL of its notes, if the feed has one. */
  notes: string | null
}

export interface ReleaseCheck {
  /** Null until one was read. */
  newest: Release | null
  /** Milliseconds since the epoch. */
  checkedAt: number
  failed: boolean
}

type Watching = Scope<"db" | "log"> & { config: Pick<Config, "releasesUrl"> }

/** Milliseconds. */
const BETWEEN_LOOKS = 60 * 60 * 1000
const DAY = 24 * BETWEEN_LOOKS
const TIMEOUT = 10_000

/** Bytes. Feeds repeat the notes of the release. */
const MOST_BYTES = 1_000_000

/** The fields that the APIs of GitHub, GitLab and Forgejo share for a release. */
const Named = v.object({
  tag_name: v.pipe(v.string(), v.maxLength(50), v.regex(/^v?\d+\.\d+\.\d+$/)),
  html_url: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(2000),
      v.url(),
      v.check((url) => /^https?:/.test(url)),
    ),
  ),
})

/**
 * Asks once a day which release is the newest, as one process for all of them, and does nothing
 * without RELEASES_URL.
 */
export function startWatchingReleases(scope: Watching): Recurring {
  const source = scope.config.releasesUrl
  if (source === null) return { stop: () => Promise.resolve() }
  const failures = createFailureLog(scope.log, "the newest release can be read again")
  return startRecurring(async (stopping) => {
    try {
      if (await checkRelease(scope, stopping)) failures.succeeded()
    } catch (error) {
      if (stopping.aborted) return
      failures.failed("warn", error, "could not read the newest release", { url: source })
    }
  }, BETWEEN_LOOKS)
}

/**
 * Asks, unless a process has done so in the last 24 hours, and returns whether it did. Throws if the
 * feed is not usable.
 */
export async function checkRelease(
  { config, db }: Omit<Watching, "log">,
  stopping?: AbortSignal,
): Promise<boolean> {
  const source = config.releasesUrl
  if (source === null || !(await claimCheck({ db }, source))) return false
  try {
    await db.update(releaseChecks).set({ ...(await readRelease(source, stopping)), failed: false })
    return true
  } catch (error) {
    if (!stopping?.aborted) await db.update(releaseChecks).set({ failed: true })
    throw error
  }
}

/** Whether this process is the one that asks today. */
async function claimCheck({ db }: Scope<"db">, source: string): Promise<boolean> {
  const claimed = await db
    .insert(releaseChecks)
    .values({ source, checkedAt: databaseNow })
    .onConflictDoUpdate({
      target: releaseChecks.place,
      set: {
        source,
        checkedAt: databaseNow,
        // What another feed named is forgotten.
        version: sql`case when ${releaseChecks.source} = excluded.source then ${releaseChecks.version} end`,
        notes: sql`case when ${releaseChecks.source} = excluded.source then ${releaseChecks.notes} end`,
      },
      setWhere: sql`${releaseChecks.checkedAt} <= excluded.checked_at - ${DAY}::bigint or ${releaseChecks.source} <> excluded.source`,
    })
    .returning({ _id: releaseChecks._id })
  return claimed.length > 0
}

/** What is known about the newest release; null if nobody asks, or nobody has yet. */
export async function findReleaseCheck({ db, config }: Omit<Watching, "log">): Promise<ReleaseCheck | null> {
  const [row] = await db.select().from(releaseChecks)
  if (!row || row.source !== config.releasesUrl) return null
  const { version, notes, checkedAt, failed } = row
  return { newest: version === null ? null : { version, notes }, checkedAt, failed }
}

/**
 * The newest release that `url` names. The request says nothing about this installation, not even
 * its version. Throws if there is no usable response within 10 s.
 */
export async function readRelease(url: string, stopping?: AbortSignal): Promise<Release> {
  const timeout = AbortSignal.timeout(TIMEOUT)
  const response = await fetch(url, {
    // GitHub refuses requests without a user agent.
    headers: { accept: "application/json", "user-agent": "tideline" },
    signal: stopping ? AbortSignal.any([stopping, timeout]) : timeout,
  })
  const text = await readText(response)
  if (!response.ok) throw new Error(`${new URL(url).host} responded with status ${response.status}.`)
  const named = v.safeParse(v.pipe(v.string(), v.parseJson(), Named), text)
  if (!named.success)
    throw new Error(`${new URL(url).host} named no release in the format of GitHub, GitLab or Forgejo.`)
  const { tag_name: tag, html_url: notes = null } = named.output
  return { version: tag.replace(/^v/, ""), notes }
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > MOST_BYTES) throw new Error(`The response has more than ${MOST_BYTES} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString("utf8")
}

export function judgeRelease(
  { newest, failed }: Omit<ReleaseCheck, "checkedAt">,
  current: string,
): Concern[] {
  const docs = "/docs/upgrading"
  if (newest && isNewer(newest.version, current)) {
    const what = dataOfReason("newer-version", { version: newest.version, current })
    return [{ state: "notice", what, docs }]
  }
  return failed ? [{ state: "notice", what: dataOfReason("newest-version-unknown"), docs }] : []
}

/** Compares `1.10.0` and `1.9.2` as versions. A pre-release of a version is older than it. */
export function isNewer(version: string, current: string): boolean {
  const [release = "", preRelease] = current.split("-", 2)
  const order = version.localeCompare(release, "en", { numeric: true })
  return order > 0 || (order === 0 && preRelease !== undefined)
}
