import { eq } from "drizzle-orm"
import { beforeEach, describe, expect, it } from "vitest"
import { files, fileUsage, uploads } from "#db/schema/files.ts"
import { spaceMembers, spaces } from "#db/schema/spaces.ts"
import { readConfig } from "#server/config.ts"
import { giveUpUpload } from "#server/files/discard.ts"
import { findSpaceUsage, renameFile } from "#server/files/files.ts"
import { listFiles } from "#server/files/list.ts"
import { restoreFile, restoreFiles } from "#server/files/restore.ts"
import { copyFiles, moveFiles } from "#server/files/move.ts"
import { cancelUpload, createUpload, findProgress, receivePart } from "#server/files/resumable.ts"
import { serveFile } from "#server/files/serve.ts"
import { visitShare } from "#server/files/share-visits.ts"
import { fileLinks } from "#server/files/shares.ts"
import { createLink } from "#server/links/links.ts"
import { sweep } from "#server/files/sweep.ts"
import {
  emptyTrash,
  purgeFile,
  purgeFiles,
  purgeOldTrash,
  trashFile,
  trashFiles,
} from "#server/files/trash.ts"
import { uploadFile } from "#server/files/upload.ts"
import { correctUsage, findWrongUsage } from "#server/files/usage.ts"
import { leaveSpace, restoreSpace, trashSpace } from "#server/spaces/spaces.ts"
import { removeMember, setRole, transferSpace } from "#server/spaces/members.ts"
import { purgeSpaces } from "#server/spaces/purge.ts"
import { aSpace } from "../support/domain-spaces.ts"
import { aFile } from "../support/file-drawer.ts"
import { withDrawer, type Owner as Person } from "../support/with-drawer.ts"

const ROLES = ["owner", "editor", "reader", "removed", "outsider"] as const
type Who = (typeof ROLES)[number]

/** Milliseconds. */
const DAY = 24 * 60 * 60 * 1000
const QUOTA = 100_000
const QUERY = { q: "", sort: "newest", type: undefined, cursor: undefined, limit: 100 } as const

let people: Record<Who, Person>
let spaceId: string

const { drawer } = withDrawer({ settings: { FILES_QUOTA_FREE: String(QUOTA), FILES_MAX_SIZE: "90000" } })
beforeEach(async () => {
  people = {
    owner: await drawer.scopeOf("olga"),
    editor: await drawer.scopeOf("edith"),
    reader: await drawer.scopeOf("ron"),
    removed: await drawer.scopeOf("rolf"),
    outsider: await drawer.scopeOf("stella"),
  }
  const { owner, editor, reader, removed } = people
  spaceId = await aSpace(
    drawer.db,
    [owner, "owner"],
    [editor, "editor"],
    [reader, "reader"],
    [removed, "editor"],
  )
})

describe("what a space stores", () => {
  it("is the same for all its members, without what its owner stores elsewhere", async () => {
    await uploadFile(people.owner, aFile("own.txt", "x".repeat(5000)))
    await uploadFile(people.owner, aFile("a.txt", "x".repeat(300)), { spaceId })
    const { _id } = await uploadFile(people.editor, aFile("b.txt", "x".repeat(20)), { spaceId })
    await trashFile(people.editor, _id)
    for (const who of ["owner", "editor", "reader"] as const)
      expect(await findSpaceUsage(people[who], spaceId)).toEqual({ used: 320, trashed: 20 })
    expect(await findSpaceUsage(people.outsider, spaceId)).toEqual({ used: 0, trashed: 0 })
  })
})

describe("a file in a space", () => {
  it("those who may not change one of several change none; those who do not see it skip it", async () => {
    const { fileId, trashedId } = await fill()
    const own = await uploadFile(people.reader, aFile("own.txt"))
    const before = await contents()
    for (const verb of [trashFiles, restoreFiles, purgeFiles])
      await expect(verb(people.reader, { fileIds: [own._id, fileId, trashedId] })).rejects.toMatchObject({
        status: 403,
        reason: "space-reader",
      })
    expect(await contents()).toEqual(before)
    const both = { fileIds: [fileId, trashedId] }
    for (const verb of [restoreFiles, purgeFiles]) expect(await verb(people.outsider, both)).toBe(0)
    expect(await trashFiles(people.outsider, both)).toMatchObject({ count: 0 })
    expect(await trashFiles(people.editor, { fileIds: [fileId] })).toMatchObject({ count: 1 })
    expect(await restoreFiles(people.owner, both)).toBe(2)
    expect(await purgeFiles(people.owner, both)).toBe(2)
  })

  it("says who added it, and is in nobody's own list", async () => {
    const added = await uploadFile(people.editor, aFile("a.txt"), { spaceId })
    expect(added).toMatchObject({ userId: idOf("editor"), spaceId })
    const { files: listed } = await listFiles(people.reader, { ...QUERY, spaceId })
    expect(listed).toMatchObject([{ fileName: "a.txt", userId: idOf("editor") }])
    for (const who of ROLES) expect((await listFiles(people[who], QUERY)).files).toEqual([])
    const everywhere = async (who: Who) =>
      (await listFiles(people[who], { ...QUERY, q: "a.t", everywhere: "true" })).files.length
    await removeMember(people.owner, spaceId, idOf("removed"))
    expect(await Promise.all(ROLES.map(everywhere))).toEqual([1, 1, 1, 0, 0])
    const own = await uploadFile(people.editor, aFile("a.txt"))
    expect(own).not.toHaveProperty("userId")
    expect(own).toMatchObject({ fileName: "a.txt" })
  })

  it("shares its names with the other files of the space, added by anybody", async () => {
    await uploadFile(people.editor, aFile("a.txt"), { spaceId })
    const second = await uploadFile(people.owner, aFile("a.txt"), { spaceId })
    expect(second.fileName).toBe("a (1).txt")
    await expect(renameFile(people.editor, second._id, { fileName: "a.txt" })).rejects.toMatchObject({
      status: 409,
    })
    await trashFile(people.editor, second._id)
    await uploadFile(people.owner, aFile("a (1).txt"), { spaceId })
    expect(await restoreFile(people.owner, second._id)).toMatchObject({ fileName: "a (1) (1).txt" })
  })

  it("is reached by its links as long as their creator is a member and the space is not in the trash", async () => {
    const { _id } = await uploadFile(people.editor, aFile("a.txt"), { spaceId })
    const { url } = await createLink(people.editor, fileLinks, _id, {})
    const visit = () => visitShare(drawer, url.split("/").at(-1) ?? "", new Request(url))
    expect(await visit()).toMatchObject({ file: { fileName: "a.txt" } })
    await trashSpace(people.owner, spaceId)
    await expect(visit()).rejects.toThrow()
    await restoreSpace(people.owner, spaceId)
    expect(await visit()).toMatchObject({ file: { fileName: "a.txt" } })
    await setRole(people.owner, spaceId, idOf("editor"), { role: "reader" })
    expect(await visit()).toMatchObject({ file: { fileName: "a.txt" } })
    await removeMember(people.owner, spaceId, idOf("editor"))
    await expect(visit()).rejects.toMatchObject({ status: 404 })
  })
})

describe("an upload into a space", () => {
  it("is refused at its end to somebody who was removed in the meantime, and leaves nothing", async () => {
    for (const [change, status] of [
      [() => setRole(people.owner, spaceId, idOf("editor"), { role: "reader" }), 403],
      [() => removeMember(people.owner, spaceId, idOf("editor")), 404],
    ] as const) {
      async function* bytes() {
        yield Buffer.from("12345")
        await change()
        yield Buffer.from("67890")
      }
      await expect(
        uploadFile(people.editor, { fileName: "a.bin", bytes: bytes(), size: { exactly: 10 } }, { spaceId }),
      ).rejects.toMatchObject({ status })
      expect(await drawer.storedPaths()).toEqual([])
      expect(await findWrongUsage(drawer)).toEqual([])
      expect(await drawer.db.$count(uploads)).toBe(0)
      if (status === 403) await setRole(people.owner, spaceId, idOf("editor"), { role: "editor" })
    }
  })

  it("that can be resumed cannot be continued by somebody who was removed, only cancelled", async () => {
    const { _id } = await createUpload(people.editor, {
      fileName: "a.bin",
      length: 10,
      metadata: "",
      spaceId,
    })

    await receivePart(people.editor, _id, part(0))
    await removeMember(people.owner, spaceId, idOf("editor"))
    await expect(findProgress(people.editor, _id)).rejects.toMatchObject({ status: 404 })
    await expect(receivePart(people.editor, _id, part(5))).rejects.toMatchObject({ status: 404 })
    await cancelUpload(people.editor, _id)
    expect(await usageOf("owner")).toMatchObject({ used: 0, reserved: 0 })
  })

  it("no longer reserves anything once the right to add to the space was taken away", async () => {
    for (const takeAway of [
      () => setRole(people.owner, spaceId, idOf("editor"), { role: "reader" }),
      () => removeMember(people.owner, spaceId, idOf("editor")),
    ]) {
      await setRole(people.owner, spaceId, idOf("editor"), { role: "editor" })
      await createUpload(people.editor, { fileName: "a.bin", length: 50_000, metadata: "", spaceId })
      expect(await usageOf("owner")).toMatchObject({ reserved: 50_000 })
      await takeAway()
      expect(await usageOf("owner")).toMatchObject({ used: 0, reserved: 0 })
    }
    await sweep(drawer, Date.now())
    expect(await drawer.db.$count(uploads)).toBe(0)
    expect(await findWrongUsage(drawer)).toEqual([])
  })

  it("whose bytes are complete is not finished for somebody who was removed", async () => {
    const { _id } = await createUpload(people.editor, { fileName: "a.bin", length: 5, metadata: "", spaceId })
    const [upload] = await drawer.db.select().from(uploads).where(eq(uploads._id, _id))
    await drawer.blobs.append(upload?.key ?? "", 0, inOnePiece("12345"))
    await removeMember(people.owner, spaceId, idOf("editor"))
    await sweep(drawer, Date.now() + DAY / 2)
    expect(await drawer.db.$count(files)).toBe(0)
    expect(await drawer.db.$count(uploads)).toBe(0)
    expect(await drawer.storedPaths()).toEqual([])
    expect(await findWrongUsage(drawer)).toEqual([])
  })

  it("ends, while no byte arrives, when the database says that the right is lost", async () => {
    const clerkId = people.editor.viewer.user.clerkId
    const silent = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) }
    for (const [lost, status] of [
      ["edit", 403],
      ["read", 404],
    ] as const) {
      const sending = uploadFile(
        people.editor,
        { fileName: "a.bin", bytes: silent, size: { exactly: 10 } },
        { spaceId },
      )
      await expect.poll(() => drawer.db.$count(uploads)).toBe(1)
      drawer.runningRequests.announcements["spaces.lostAccess"]?.(`${clerkId} ${spaceId} ${lost}`)
      await expect(sending).rejects.toMatchObject({ status })
      expect(await drawer.db.$count(uploads)).toBe(0)
    }
  })
})

describe("a download from a space", () => {
  it("breaks off when the right to read is lost, and not when only that to edit is", async () => {
    const size = 2_000_000
    const config = readConfig({ AUTH_SECRET: "a secret for tests, and for nothing else" })
    const { _id } = await uploadFile({ ...people.editor, config }, aFile("a.bin", Buffer.alloc(size)), {
      spaceId,
    })
    const open = async () => {
      const request = new Request("http://tideline.test/api/files/x")
      return (await serveFile(people.editor, _id, request)).body?.getReader()
    }
    const clerkId = people.editor.viewer.user.clerkId
    const lose = (right: string) =>
      drawer.runningRequests.announcements["spaces.lostAccess"]?.(`${clerkId} ${spaceId} ${right}`)
    const continued = await open()
    let received = (await continued?.read())?.value?.byteLength ?? 0
    lose("edit")
    for (let read = await continued?.read(); read && !read.done; read = await continued?.read())
      received += read.value.byteLength
    expect(received).toBe(size)

    const broken = await open()
    await broken?.read()
    lose("read")
    await expect(
      (async () => {
        while (!(await broken?.read())?.done);
      })(),
    ).rejects.toMatchObject({ status: 404 })
  })
})

describe("what a space stores", () => {
  it("counts for its owner, with the trash, and against the owner's quota", async () => {
    await uploadFile(people.editor, aFile("a.bin", Buffer.alloc(60_000)), { spaceId })
    expect(await usageOf("owner")).toMatchObject({ used: 60_000, reserved: 0, trashed: 0 })
    expect(await usageOf("editor")).toBeUndefined()
    await expect(
      uploadFile(people.editor, aFile("b.bin", Buffer.alloc(60_000)), { spaceId }),
    ).rejects.toMatchObject({ status: 507, reason: "not-enough-space-of-owner" })
    await uploadFile(people.editor, aFile("b.bin", Buffer.alloc(60_000)))
    await trashFiles(people.editor, { all: { spaceId } })
    expect(await usageOf("owner")).toMatchObject({ used: 60_000, trashed: 60_000 })
    await emptyTrash(people.editor, { spaceId })
    expect(await usageOf("owner")).toMatchObject({ used: 0, trashed: 0 })
  })

  it("of several people at the same moment never exceeds the owner's quota", async () => {
    const sent = await Promise.allSettled(
      Array.from({ length: 10 }, (_, number) =>
        uploadFile(
          number % 2 ? people.editor : people.owner,
          aFile(`${number}.bin`, Buffer.alloc(30_000)),
          number % 3 ? { spaceId } : number % 2 ? { spaceId } : {},
        ),
      ),
    )
    expect(sent.filter(({ status }) => status === "fulfilled")).toHaveLength(3)
    expect(await usageOf("owner")).toMatchObject({ used: 90_000, reserved: 0 })
    expect(await findWrongUsage(drawer)).toEqual([])
  })

  it("is refused in a transfer to somebody whose plan has no space for it", async () => {
    await uploadFile(people.owner, aFile("a.bin", Buffer.alloc(60_000)), { spaceId })
    await uploadFile(people.editor, aFile("own.bin", Buffer.alloc(60_000)), {})
    await expect(transferSpace(people.owner, spaceId, idOf("editor"))).rejects.toMatchObject({
      status: 409,
      reason: "member-lacks-space",
    })
    expect(await usageOf("owner")).toMatchObject({ used: 60_000 })
    expect(await usageOf("editor")).toMatchObject({ used: 60_000 })
  })

  it("is the next owner's after a transfer, and nobody's after the space is deleted for good", async () => {
    await uploadFile(people.editor, aFile("a.bin", Buffer.alloc(5000)), { spaceId })
    await trashFile(
      people.owner,
      (await uploadFile(people.owner, aFile("b.bin", Buffer.alloc(300)), { spaceId }))._id,
    )
    await createUpload(people.owner, { fileName: "c", length: 70, metadata: "", spaceId })
    await transferSpace(people.owner, spaceId, idOf("editor"))
    expect(await usageOf("owner")).toMatchObject({ used: 0, reserved: 0, trashed: 0 })
    expect(await usageOf("editor")).toMatchObject({ used: 5300, reserved: 70, trashed: 300 })
    await trashSpace(people.editor, spaceId)
    await purgeSpaces(drawer, Date.now() + 31 * DAY)
    expect(await usageOf("editor")).toMatchObject({ used: 0, reserved: 0, trashed: 0 })
    expect(await drawer.db.$count(files)).toBe(0)
    await sweep(drawer, Date.now() + DAY)
    expect(await drawer.storedPaths()).toEqual([])
    expect(await drawer.db.$count(uploads)).toBe(0)
  })

  it("is in sums that equal the rows after anything that people do at the same time", async () => {
    const random = seeded(20_260)
    const { owner, editor, outsider } = people
    const second = await aSpace(drawer.db, [editor, "owner"], [owner, "editor"], [outsider, "editor"])
    const all = ["owner", "editor", "removed", "outsider"] as const
    const places = [spaceId, second, undefined]
    const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item
    const anyFile = async (scope: Person) => {
      const rows = await drawer.db.select({ _id: files._id }).from(files)
      return rows.length > 0 ? pick(rows)._id : (await uploadFile(scope, aFile("a.txt")))._id
    }
    const acts: ((scope: Person) => Promise<unknown>)[] = [
      (scope) =>
        uploadFile(scope, aFile(`${pick(["a", "b"])}.bin`, Buffer.alloc(Math.floor(random() * 2000))), {
          spaceId: pick(places),
        }),
      (scope) => createUpload(scope, { fileName: "u", length: 50, metadata: "", spaceId: pick(places) }),
      async () => {
        const rows = await drawer.db.select({ _id: uploads._id }).from(uploads)
        if (rows.length > 0) await giveUpUpload(drawer, pick(rows)._id)
      },
      async (scope) => trashFile(scope, await anyFile(scope)),
      async (scope) => restoreFile(scope, await anyFile(scope)),
      async (scope) => purgeFile(scope, await anyFile(scope)),
      async (scope) =>
        moveFiles(scope, {
          fileIds: [await anyFile(scope), await anyFile(scope)],
          spaceId: pick(places),
        }),
      async (scope) => copyFiles(scope, { fileIds: [await anyFile(scope)], spaceId: pick(places) }),
      (scope) => emptyTrash(scope, { spaceId: pick(places) }),
      () => purgeOldTrash(drawer, Date.now() + 365 * DAY),
      (scope) => transferSpace(scope, pick([spaceId, second]), idOf(pick(all))),
      (scope) => leaveSpace(scope, pick([spaceId, second])),
      async (scope) => {
        const place = pick([spaceId, second])
        await trashSpace(scope, place)
        await restoreSpace(scope, place)
      },
    ]
    for (let round = 0; round < 12; round++) {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 10 }, () => pick(acts)(people[pick(all)])),
      )
      for (const outcome of outcomes)
        if (outcome.status === "rejected") expect(outcome.reason, `round ${round}`).toHaveProperty("status")
      expect(await findWrongUsage(drawer), `round ${round}`).toEqual([])
      for (const place of [spaceId, second])
        await drawer.db
          .insert(spaceMembers)
          .values(all.map((who) => ({ spaceId: place, userId: idOf(who), role: "editor" as const })))
          .onConflictDoNothing()
    }
    await drawer.db.delete(spaces).where(eq(spaces._id, second))
    expect(await findWrongUsage(drawer)).toEqual([])
    await drawer.db.update(fileUsage).set({ used: 1, reserved: 2, trashed: 3 })
    for (const { userId } of await findWrongUsage(drawer)) await correctUsage(drawer, userId)
    expect(await findWrongUsage(drawer)).toEqual([])
  })
})

/** A file, one in the trash and a link, which the editor and the person who is removed added. */
async function fill() {
  const { _id: fileId } = await uploadFile(people.removed, aFile("a.txt"), { spaceId })
  const { _id: trashedId } = await uploadFile(people.editor, aFile("trashed.txt"), { spaceId })
  await trashFile(people.editor, trashedId)
  const { share } = await createLink(people.removed, fileLinks, fileId, {})
  return { fileId, trashedId, shareId: share._id }
}

/** Everything that a change could have changed. */
async function contents() {
  return {
    files: await drawer.db.select().from(files).orderBy(files._id),
    uploads: await drawer.db.select().from(uploads).orderBy(uploads._id),
    usage: await drawer.db
      .select({ userId: fileUsage.userId, used: fileUsage.used, reserved: fileUsage.reserved })
      .from(fileUsage)
      .orderBy(fileUsage._id),
  }
}

async function usageOf(who: Who) {
  const [usage] = await drawer.db
    .select()
    .from(fileUsage)
    .where(eq(fileUsage.userId, idOf(who)))
  return usage
}

function idOf(who: Who): string {
  return people[who].viewer.user._id
}

async function* inOnePiece(text: string) {
  yield Buffer.from(text)
}

/** Mulberry32. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

function part(offset: number) {
  return { offset, body: new Blob(["12345"]).stream(), size: 5 }
}
