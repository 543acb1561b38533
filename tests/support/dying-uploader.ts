import process from "node:process"
import { openDatabase } from "#db/client.ts"
import { users } from "#db/schema/users.ts"
import { openDiskBlobs } from "#server/adapters/blobs/disk.ts"
import { readConfig } from "#server/config.ts"
import { cancelUpload, createUpload, receivePart } from "#server/files/resumable.ts"
import { openUploadLocks } from "#server/files/upload-locks.ts"
import { openUploadProgress } from "#server/files/upload-progress.ts"
import { openRunningRequests } from "#server/running-requests.ts"
import { announce } from "#server/live.ts"
import { uploadFile } from "#server/files/upload.ts"
import { openLog } from "#server/log.ts"
import { bytesOf, SENT } from "./dying-uploads.ts"

// A process that uploads the contents of `SENT` in every supported way, and may be killed at any
// step.

const { DATABASE_URL: url = "", BLOBS: directory = "" } = process.env
const config = readConfig({ AUTH_SECRET: "a secret for tests, and for nothing else" })
const log = openLog("silent")
const { db, close } = openDatabase(url, { connections: 2 })
const [user] = await db.select().from(users)
if (!user) throw new Error("There is nobody to upload for.")
const uploadLocks = openUploadLocks({ announce, db, log, config }, url)
const scope = {
  config,
  log,
  process: 1,
  db,
  uploadLocks,
  runningRequests: openRunningRequests(),
  uploadProgress: openUploadProgress({ live: { sendToMembers: () => false }, log }),
  blobs: await openDiskBlobs(directory),
  viewer: {
    user,
    session: { userId: user.clerkId, sessionId: null, plan: "free", via: "cookie" } as const,
  },
}

const counter = globalThis as unknown as { countSteps(): void; stepsCounted(): number }
counter.countSteps()

const { size, half } = SENT
await uploadFile(scope, {
  fileName: "direct.bin",
  bytes: bodyOf(0, size) as AsyncIterable<Uint8Array>,
  size: { exactly: size },
})
const { _id } = await createUpload(scope, { fileName: "resumable.bin", length: size, metadata: "" })
await receivePart(scope, _id, { offset: 0, body: bodyOf(0, half), size: half })
await receivePart(scope, _id, { offset: half, body: bodyOf(half, size), size: size - half })
const cancelled = await createUpload(scope, { fileName: "cancelled.bin", length: size, metadata: "" })
await receivePart(scope, cancelled._id, { offset: 0, body: bodyOf(0, half), size: half })
await cancelUpload(scope, cancelled._id)

process.stdout.write(String(counter.stepsCounted()))
await uploadLocks.close()
await close()

function bodyOf(start: number, end: number) {
  return new Blob([bytesOf(start, end)]).stream()
}
