import { eq, sql } from "drizzle-orm"
import { describe, expect, it } from "vitest"
import { openDatabase, type Transaction } from "#db/client.ts"
import { chatThreads } from "#db/schema/chat.ts"
import { blobs, files, uploads } from "#db/schema/files.ts"
import { spaceMembers, spaces } from "#db/schema/spaces.ts"
import { users } from "#db/schema/users.ts"
import { forgetInRecords } from "#server/accounts/own-records.ts"
import { openTurn } from "#server/chat/open-turn.ts"
import { createThread } from "#server/chat/threads.ts"
import { commitFile } from "#server/files/commit.ts"
import { handOverSpaces, type SpaceChoices } from "#server/spaces/hand-over.ts"
import { transferSpace } from "#server/spaces/members.ts"
import { aSpace } from "../support/domain-spaces.ts"
import { shareChatServices, type ChatScope as Person } from "../support/chat-services.ts"
import { withResource } from "../support/with-resource.ts"

const SHA256 = "0".repeat(64)

const { chat } = await shareChatServices()
/** Connections of its own, because the others may all wait. */
const beside = withResource(() => openDatabase(chat.databaseUrl))

describe("deleting an account", () => {
  it("waits for the person's message in a space, which does not wait for it", async () => {
    const ada = await chat.scopeOf("ada")
    const spaceId = await aSpace(chat.db, [await chat.scopeOf("grace"), "owner"], [ada, "editor"])
    const { _id: threadId } = await createThread(ada, { title: "Engines", spaceId })
    const release = await hold((tx) =>
      tx.select().from(chatThreads).where(eq(chatThreads._id, threadId)).for("update"),
    )
    const message = openTurn(ada, threadId, { requestId: "q1", text: "Hello", again: false }, 60_000)
    await waiting(1)
    const deletion = deletePerson(ada)
    await waiting(2)
    await release()
    expect(await Promise.all([message, deletion])).toMatchObject([{ kind: "fresh" }, undefined])
  })

  it("and a space with it waits for a member's upload that is being finished", async () => {
    const ada = await chat.scopeOf("ada")
    const mary = await chat.scopeOf("mary")
    const spaceId = await aSpace(chat.db, [ada, "owner"], [mary, "editor"])
    const { uploadId, key } = await anUpload(mary, spaceId)
    const release = await hold((tx) => tx.insert(blobs).values({ key, size: 1, sha256: SHA256 }))
    const finishing = finish(uploadId)
    await waiting(1)
    const deletion = deletePerson(ada, new Map([[spaceId, "delete"]]))
    await waiting(2)
    await release()
    expect(await Promise.all([finishing, deletion])).toMatchObject([{ fileName: "a.txt" }, undefined])
    expect(await chat.db.$count(files, eq(files.spaceId, spaceId))).toBe(0)
  })

  it("and a space with it refuses the person's own upload that is being finished", async () => {
    const ada = await chat.scopeOf("ada")
    const spaceId = await aSpace(chat.db, [ada, "owner"])
    const { uploadId } = await anUpload(ada, spaceId)
    const release = await hold((tx) =>
      tx.select().from(spaces).where(eq(spaces._id, spaceId)).for("key share"),
    )
    const deletion = deletePerson(ada, new Map([[spaceId, "delete"]]))
    await waiting(1)
    const finishing = finish(uploadId).catch((error: unknown) => error)
    await waiting(2)
    await release()
    expect(await Promise.all([finishing, deletion])).toMatchObject([{ status: 404 }, undefined])
  })

  it("waits for a space that is being given to the person, which does not wait for it", async () => {
    const ada = await chat.scopeOf("ada")
    const grace = await chat.scopeOf("grace")
    const spaceId = await aSpace(chat.db, [grace, "owner"], [ada, "editor"])
    const release = await hold((tx) =>
      tx.select().from(spaceMembers).where(eq(spaceMembers.userId, grace.viewer.user._id)).for("update"),
    )
    const transfer = transferSpace(grace, spaceId, ada.viewer.user._id)
    await waiting(1)
    const deletion = deletePerson(ada)
    await Promise.race([deletion, waiting(2)])
    await release()
    // Which of the two comes first is open.
    const [transferred] = await Promise.allSettled([transfer, deletion])
    await deletion
    if (transferred.status === "rejected") expect(transferred.reason).toMatchObject({ status: 404 })
  })
})

/** As `deleteAccount` does in its transaction. */
function deletePerson({ viewer }: Person, choices: SpaceChoices = new Map()): Promise<void> {
  return chat.db.transaction(async (tx) => {
    await handOverSpaces({ db: tx }, viewer.user._id, choices)
    await forgetInRecords({ db: tx }, viewer.user, [])
    await tx.delete(users).where(eq(users._id, viewer.user._id))
  })
}

/** Holds a lock until the returned function is called. */
async function hold(lock: (tx: Transaction) => PromiseLike<unknown>): Promise<() => Promise<void>> {
  const locked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const holding = beside.db
    .transaction(async (tx) => {
      await lock(tx)
      locked.resolve()
      await released.promise
      tx.rollback()
    })
    .catch(() => {})
  await locked.promise
  return async () => {
    released.resolve()
    await holding
  }
}

/** Resolves when so many connections wait for a lock. */
async function waiting(count: number): Promise<void> {
  await expect
    .poll(
      async () => {
        const rows = await beside.db.execute(sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
        return rows.length
      },
      { interval: 5, timeout: 10_000 },
    )
    .toBe(count)
}

async function anUpload({ viewer }: Person, spaceId: string) {
  const key = crypto.randomUUID()
  const [upload] = await chat.db
    .insert(uploads)
    .values({ userId: viewer.user._id, spaceId, key, reserved: 1, expiresAt: Date.now() + 60_000 })
    .returning()
  return { uploadId: upload?._id ?? "", key }
}

function finish(uploadId: string) {
  return commitFile(
    chat,
    uploadId,
    { size: 1, sha256: SHA256 },
    { fileName: "a.txt", mimeType: "text/plain" },
  )
}
