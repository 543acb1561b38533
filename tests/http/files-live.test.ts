import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Change } from "../../live/protocol/contract.ts"
import type { FileSummary, ShareSummary } from "#server/files/contract.ts"
import type { NewLink } from "#server/links/contract.ts"
import { post } from "../support/api.ts"
import { openLiveSocket, realtimeToken, type LiveSocket } from "../support/live.ts"
import { ada as adaLovelace, grace as graceHopper, signUp } from "../support/people.ts"
import { withTideline } from "../support/with-tideline.ts"

const [LIST, TRASH, SHARES, USAGE] = [1, 2, 3, 4]

let hers: LiveSocket
let graces: LiveSocket
let file: FileSummary

const { app, sql, ada } = withTideline({ people: { ada: adaLovelace } })

beforeAll(async () => {
  hers = await openLiveSocket(app, await realtimeToken(ada))
  graces = await openLiveSocket(app, await realtimeToken(await signUp(app, graceHopper)))
  file = await store("engine.txt")
  for (const socket of [hers, graces]) {
    await socket.subscribe("files.list", {}, LIST)
    await socket.subscribe("files.listTrash", {}, TRASH)
    await socket.subscribe("files.listShares", { fileId: file._id }, SHARES)
    for (const id of [LIST, TRASH, SHARES]) await socket.until(({ event }) => isSnapshotOf(event, id))
  }
})
afterAll(async () => {
  hers.close()
  graces.close()
})

describe("over the socket", () => {
  it("a removed file moves from the list to the trash, and a restored one moves back", async () => {
    await hers.mutate("files.remove", { fileId: file._id })
    await waitForChange([LIST, "remove", file._id])
    const [, , , row] = await waitForChange([TRASH, "put", file._id])
    expect(row).toEqual({ ...file, trashedAt: expect.any(Number) as number })

    const other = await store("engine.txt")
    const answer = await hers.mutate("files.restore", { fileId: file._id })
    const restored = { ...file, fileName: "engine (1).txt" }
    expect(answer).toMatchObject({ value: restored })
    await waitForChange([TRASH, "remove", file._id])
    const [, , , back] = await waitForChange([LIST, "put", file._id])
    expect(back).toEqual(restored)

    await hers.mutate("files.purge", { fileId: other._id })
    await waitForChange([LIST, "remove", other._id])
  })

  it("emptying the trash takes effect everywhere immediately, and reports the freed space", async () => {
    const files = [await store("a.txt"), await store("b.txt")]
    for (const { _id } of files) await hers.mutate("files.remove", { fileId: _id })
    expect(await graces.mutate("files.emptyTrash", {})).toMatchObject({ value: 0 })
    expect(await hers.mutate("files.emptyTrash", {})).toMatchObject({ value: 2 })
    for (const { _id } of files) await waitForChange([TRASH, "remove", _id])
  })

  it("a link appears, counts its downloads and disappears, without revealing its token or password", async () => {
    const { url, share } = await shareIt({ password: "open sesame", maxDownloads: 9 })
    const [, , , row] = await waitForChange([SHARES, "put", share._id])
    expect(row).toEqual(share)
    const open = await shareIt({})
    await (await fetch(`${open.url}/download`)).text()
    await waitForChange([SHARES, "put", open.share._id], { ...open.share, downloads: 1 })
    expect(await graces.mutate("files.revokeShare", { shareId: share._id })).toMatchObject({
      error: { code: "not_found" },
    })
    expect(await hers.mutate("files.revokeShare", { shareId: share._id })).toHaveProperty("value")
    await waitForChange([SHARES, "remove", share._id])
    expect((await fetch(url)).status).toBe(404)
    const everything = JSON.stringify(hers.received)
    expect(everything).not.toContain(url.slice(-20))
    expect(everything).not.toContain("scrypt")
    expect(await hers.query("files.listShares", {})).toMatchObject({ value: [{ _id: open.share._id }] })
  })

  it("the used space changes with every change of the files, no matter who makes it", async () => {
    const usage = await hers.query("files.getUsage", {})
    const { _id, revision } = (usage as { value: { _id: string; revision: number } }).value
    await hers.subscribe("files.getUsage", {}, USAGE)
    await hers.until(({ event }) => isSnapshotOf(event, USAGE))
    await sql`update files set file_name = 'named by an operator.txt' where _id = ${file._id}`
    const [, , , row] = await waitForChange([USAGE, "put", _id])
    expect(row).toMatchObject({ revision: revision + 1 })
  })

  it("the space used by the trash follows every file that is trashed, restored or deleted", async () => {
    const { _id, trashed, used } = await findUsage()
    const [one, other] = [await store("one.txt"), await store("other.txt")]
    const figures = async () => {
      const now = await findUsage()
      return { trashed: now.trashed - trashed, used: now.used - used }
    }
    await hers.mutate("files.removeMany", { fileIds: [one._id, other._id] })
    expect(await figures()).toEqual({ trashed: one.size + other.size, used: one.size + other.size })
    await hers.mutate("files.restore", { fileId: one._id })
    expect(await figures()).toEqual({ trashed: other.size, used: one.size + other.size })
    await hers.mutate("files.purgeMany", { fileIds: [one._id, other._id] })
    expect(await figures()).toEqual({ trashed: 0, used: 0 })
    await hers.until(({ event }) => {
      const { changes = [] } = event as { changes?: Change[] }
      return changes.some(
        ([id, , key, row]) =>
          id === USAGE &&
          key === _id &&
          Reflect.get(row ?? {}, "trashed") === trashed + one.size + other.size,
      )
    })
  })

  it("none of it is visible to other users", async () => {
    const trashed = await store("trashed.txt")
    await hers.mutate("files.remove", { fileId: trashed._id })
    await waitForChange([TRASH, "put", trashed._id])
    for (const mutation of ["files.remove", "files.restore", "files.purge"]) {
      for (const fileId of [file._id, trashed._id])
        expect(await graces.mutate(mutation, { fileId })).toMatchObject({ error: { code: "not_found" } })
    }
    for (const mutation of ["files.removeMany", "files.restoreMany", "files.purgeMany"])
      expect(await graces.mutate(mutation, { fileIds: [file._id, trashed._id] })).toMatchObject({ value: 0 })
    for (const query of ["files.list", "files.listTrash", "files.listShares"])
      expect(await graces.query(query)).toEqual({ value: [] })
    expect(await graces.query("files.getUsage")).toEqual({ value: null })
    expect(graces.received.filter(({ name }) => name === "commit")).toEqual([])
    expect(await hers.query("files.listTrash")).toMatchObject({ value: [{ _id: trashed._id }] })
  })
})

async function findUsage() {
  const answer = await hers.query("files.getUsage", {})
  return (answer as { value: { _id: string; used: number; trashed: number } }).value
}

function isSnapshotOf(event: unknown, id: number | undefined) {
  const { subscriptions = [] } = event as { subscriptions?: { id: number }[] }
  return subscriptions.some((subscription) => subscription.id === id)
}

/**
 * The change of one row that Ada's socket received or receives next; if fields are given, the one
 * that leaves these.
 */
async function waitForChange(wanted: [id: number | undefined, op: string, key: string], row?: object) {
  const find = (event: unknown) => {
    const { changes = [] } = event as { changes?: Change[] }
    return changes.find(
      (change) =>
        wanted.every((part, at) => change[at] === part) &&
        (row === undefined || JSON.stringify(sorted(change[3])) === JSON.stringify(sorted(row))),
    )
  }
  const change = find(await hers.until(({ event }) => find(event) !== undefined))
  if (!change) throw new Error("The change that arrived is gone.")
  return change
}

function sorted(row: object | undefined) {
  return Object.entries(row ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

async function store(name: string): Promise<FileSummary> {
  const answer = await ada(`/api/files?name=${name}`, { method: "POST", body: "a secret of Ada" })
  const { files } = (await answer.json()) as { files: FileSummary[] }
  if (!files[0]) throw new Error("Nothing was stored.")
  return files[0]
}

async function shareIt(limits: object): Promise<NewLink<ShareSummary>> {
  return (await (await ada(`/api/files/${file._id}/shares`, post(limits))).json()) as NewLink<ShareSummary>
}
