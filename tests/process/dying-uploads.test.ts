import { spawn } from "node:child_process"
import { once } from "node:events"
import { resolve } from "node:path"
import { buffer, text } from "node:stream/consumers"
import { pathToFileURL } from "node:url"
import { and, isNotNull } from "drizzle-orm"
import { expect, test } from "vitest"
import { blobs, files, uploads } from "#db/schema/files.ts"
import { users } from "#db/schema/users.ts"
import { checkFiles, type Finding } from "#server/files/check.ts"
import { findProgress, receivePart } from "#server/files/resumable.ts"
import { sweep } from "#server/files/sweep.ts"
import { COMPILE_CACHE } from "../support/compile-cache.ts"
import { bytesOf, SENT } from "../support/dying-uploads.ts"
import { openFileDrawer } from "../support/file-drawer.ts"
import { withResource } from "../support/with-resource.ts"

const HOUR = 60 * 60 * 1000
const LONG = process.env["UPLOADS"] === "long"
/** UPLOADS=long runs all steps, which takes half an hour. */
const STRIDE = LONG ? 1 : 211

const drawer = withResource(openFileDrawer)

test(
  "a process that is killed at any step of an upload leaves nothing missing or miscounted",
  { timeout: LONG ? 7_200_000 : 480_000 },
  async () => {
    const steps = (await uploadUntil({})) ?? 0
    expect(steps).toBeGreaterThan(100)
    await expectWhole(2)
    // The number of packets in a response varies, so the end is reached when the process survives
    // its step.
    for (let step = 1; (await uploadUntil({ step })) === null; step += STRIDE)
      await expectRecovery(`step ${step}`)
    let commit = 1
    for (; (await uploadUntil({ commit })) === null; commit++) await expectRecovery(`commit ${commit}`)
    expect(commit).toBeGreaterThan(5)
  },
)

async function expectRecovery(place: string) {
  await expectConsistent(place)
  await resumeAll()
  await expectWhole(await drawer.db.$count(files))
}

/**
 * Runs the uploads in a process that dies at this step, or when PostgreSQL has confirmed this
 * commit. Resolves with the number of steps, or null if it died.
 */
async function uploadUntil({ step, commit }: { step?: number; commit?: number }): Promise<number | null> {
  await drawer.empty()
  await drawer.scopeOf("ada")
  const child = spawn(
    process.execPath,
    [
      "--import",
      pathToFileURL(resolve(import.meta.dirname, "../support/step-killer.ts")).href,
      resolve(import.meta.dirname, "../support/dying-uploader.ts"),
    ],
    {
      stdio: ["ignore", "pipe", "inherit"],
      env: {
        PATH: process.env["PATH"],
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        KILL_AT: String(step),
        KILL_AT_COMMIT: String(commit),
        DATABASE_URL: drawer.databaseUrl,
        BLOBS: drawer.directory,
      },
    },
  )
  const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, "exit")])
  if (signal === "SIGKILL") return null
  expect(code).toBe(0)
  return Number(output)
}

/**
 * Right after the crash nothing may be found, as bytes without a row are within their grace period.
 * Two days later only such bytes may be found.
 */
async function expectConsistent(place: string) {
  expect(await findings(Date.now()), `at ${place}`).toEqual([])
  const later = await findings(Date.now() + 48 * HOUR)
  expect(
    later.filter(({ kind }) => kind !== "nameless" && kind !== "late"),
    `after ${place}`,
  ).toEqual([])
}

/** Does what a client without a response does: asks for the offset, and sends the rest. */
async function resumeAll() {
  const [user] = await drawer.db.select().from(users)
  if (!user) throw new Error("Ada is gone.")
  const session = { userId: user.clerkId, sessionId: null, plan: "free", via: "cookie" } as const
  const scope = { ...drawer, viewer: { user, session } }
  const begun = await drawer.db
    .select({ id: uploads._id })
    .from(uploads)
    .where(and(isNotNull(uploads.key), isNotNull(uploads.length)))
  for (const { id } of begun) {
    const { offset, fileId } = await findProgress(scope, id)
    if (fileId) continue
    const rest = bytesOf(offset, SENT.size)
    const last = await receivePart(scope, id, { offset, body: new Blob([rest]).stream(), size: rest.length })
    expect(last.fileId).not.toBeNull()
  }
}

/** Nothing is left but these files, and all of them are complete. */
async function expectWhole(count: number) {
  await sweep(drawer, Date.now() + 48 * HOUR)
  expect(await findings(Date.now() + 48 * HOUR)).toEqual([])
  const kept = await drawer.db.select().from(blobs)
  expect(kept).toHaveLength(count)
  for (const { key } of kept) {
    const stream = await drawer.blobs.open(key)
    expect(stream && (await buffer(stream)).equals(bytesOf(0, SENT.size))).toBe(true)
  }
  expect(await drawer.storedPaths()).toHaveLength(count)
  expect(await drawer.db.$count(uploads)).toBe(0)
  const usage = await drawer.usage()
  for (const { used, reserved } of usage) expect([used, reserved]).toEqual([count * SENT.size, 0])
}

async function findings(now: number): Promise<Finding[]> {
  const found: Finding[] = []
  for await (const finding of checkFiles(drawer, { checksums: true, now })) found.push(finding)
  return found
}
