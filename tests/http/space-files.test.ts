import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { get, type IncomingMessage } from "node:http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Uploading } from "#server/files/upload-progress-contract.ts"
import { openLiveSocket, realtimeToken, type LiveSocket } from "../support/live.ts"
import { signUp, type Person } from "../support/people.ts"
import { storedPaths } from "../support/stored-paths.ts"
import { create, metadataOf, uploadAt } from "../support/uploads.ts"
import { withTideline } from "../support/with-tideline.ts"

const ROLES = ["owner", "editor", "reader", "removed", "outsider"] as const
type Who = (typeof ROLES)[number]

/** More than sockets and the server buffer, so that a download that nobody reads stays open. */
const LARGE = 40_000_000
const UNKNOWN = "01a1fabb-7bb3-7c55-803b-f2a3db625462"

let people: Record<Who, Person>
let sockets: Record<Who, LiveSocket>
let ids: Record<Who, string>
let spaceId: string
/** The file of `LARGE` bytes. */
let largeId: string

const { app, sql } = withTideline({ settings: { SPACES: "on" }, connections: 2 })

beforeAll(async () => {
  const signedUp = await Promise.all(
    ROLES.map(async (who) => [who, await signUp(app, { name: who, email: `${who}@example.org` })] as const),
  )
  people = Object.fromEntries(signedUp) as typeof people
  const opened = await Promise.all(
    signedUp.map(async ([who, person]) => [who, await openLiveSocket(app, await realtimeToken(person))]),
  )
  sockets = Object.fromEntries(opened) as typeof sockets
  const rows = await sql<{ id: string; who: Who }[]>`
    select _id as id, split_part(email, '@', 1) as who from users`
  ids = Object.fromEntries(rows.map(({ id, who }) => [who, id])) as typeof ids
  spaceId = await value(sockets.owner, "spaces.create", { name: "Engines" })
  await join("editor", "editor")
  await join("reader", "reader")
  await join("removed", "editor")
  await value(sockets.owner, "spaces.removeMember", { spaceId, userId: ids.removed })
  const stored = await people.owner(`/api/files?name=large.bin&spaceId=${spaceId}`, {
    method: "POST",
    body: randomBytes(LARGE),
  })
  const { files } = (await stored.json()) as { files: { _id: string }[] }
  largeId = files[0]?._id ?? ""
})
afterAll(async () => {
  for (const socket of Object.values(sockets)) socket.close()
})

describe("files in a space", () => {
  it("a space that does not exist, and text that is no id, are never what is personal", async () => {
    const own = await people.owner("/api/files?name=own.txt", { method: "POST", body: "mine" })
    expect(own.status).toBe(201)
    for (const place of [UNKNOWN, "engines", ""]) {
      expect((await people.owner(`/api/files?spaceId=${place}`)).status).toBe(404)
      expect((await people.owner(`/api/files/trash?spaceId=${place}`)).status).toBe(404)
      const emptied = await people.owner(`/api/files/trash?spaceId=${place}`, { method: "DELETE" })
      expect(emptied.status).toBe(404)
      const sent = await people.owner(`/api/files?name=a.txt&spaceId=${place}`, { method: "POST", body: "a" })
      expect(sent.status).toBe(404)
    }
  })

  it("a removal ends the running download, and the running upload, of the removed person alone", async () => {
    await join("removed", "editor")
    const downloads = { removed: await startDownload("removed"), reader: await startDownload("reader") }
    const upload = await startUpload("removed")
    await value(sockets.owner, "spaces.removeMember", { spaceId, userId: ids.removed })
    expect(await downloads.removed()).toBeLessThan(LARGE)
    expect((await upload.answer).status).toBe(404)
    expect(await downloads.reader()).toBe(LARGE)
    expect((await sql`select from uploads where user_id = ${ids.removed} and reserved > 0`).length).toBe(0)
  })

  it("a lowered role ends the running upload, and not the download", async () => {
    await join("removed", "editor")
    const download = await startDownload("removed")
    const upload = await startUpload("removed")
    await value(sockets.owner, "spaces.setRole", { spaceId, userId: ids.removed, role: "reader" })
    expect((await upload.answer).status).toBe(403)
    expect(await download()).toBe(LARGE)
    await value(sockets.owner, "spaces.removeMember", { spaceId, userId: ids.removed })
  })

  it("members who look at the files are told of each upload, and neither readers nor others can tell of one", async () => {
    await join("removed", "editor")
    for (const who of ["reader", "removed"] as const) {
      await sockets[who].subscribe("files.list", { spaceId }, 1)
      expect(await sockets[who].join("files.uploads")).toHaveProperty("value")
    }
    expect((await sockets.outsider.subscribe("files.list", { spaceId }, 1)).refused).toHaveLength(1)
    expect(await sockets.outsider.join("files.uploads")).toMatchObject({ error: { code: "not_found" } })
    const claimed = {
      uploadId: UNKNOWN,
      userId: ids.editor,
      fileName: "u",
      received: 1,
      size: 2,
      isOver: false,
    }
    expect(await sockets.reader.broadcast("files.uploads", claimed)).toMatchObject({
      error: { code: "forbidden" },
    })

    const upload = await startUpload("editor")
    const said = { userId: ids.editor, fileName: "u.bin", size: 2_000_000, isOver: false }
    for (const who of ["reader", "removed"] as const)
      await heard(who, (told) => told.userId === ids.editor && told.received === 1_000_000)
    expect(toldTo("removed").at(-1)).toMatchObject(said)
    await value(sockets.owner, "spaces.removeMember", { spaceId, userId: ids.removed })
    await sockets.removed.until(({ name }) => name === "revoked")
    const before = { removed: toldTo("removed").length, reader: toldTo("reader").length }
    expect((await uploadAt(people.editor, upload.address).cancel()).status).toBe(204)
    expect((await upload.answer).status).toBe(410)
    await heard("reader", (told) => told.userId === ids.editor && told.isOver)
    expect(toldTo("reader").length).toBeGreaterThan(before.reader)
    expect(toldTo("removed")).toHaveLength(before.removed)
  })

  it("an upload whose sender is removed, or whose connection is lost, is over for those who look", async () => {
    await join("removed", "editor")
    await sockets.owner.subscribe("files.list", { spaceId }, 1)
    expect(await sockets.owner.join("files.uploads")).toHaveProperty("value")
    const lost = new AbortController()
    const uploads = {
      removed: await startUpload("removed"),
      editor: await startUpload("editor", lost.signal),
    }
    for (const who of ["removed", "editor"] as const)
      await heard("owner", ({ userId, received }) => userId === ids[who] && received === 1_000_000)
    await value(sockets.owner, "spaces.removeMember", { spaceId, userId: ids.removed })
    lost.abort()
    await expect(uploads.editor.answer).rejects.toThrow()
    for (const who of ["removed", "editor"] as const)
      await heard("owner", ({ userId, isOver }) => userId === ids[who] && isOver)
  })

  it("the deletion of the space ends everybody's downloads and uploads, and a restored one starts again", async () => {
    const downloads = [await startDownload("reader"), await startDownload("owner")]
    const upload = await startUpload("editor")
    await value(sockets.owner, "spaces.remove", { spaceId })
    for (const download of downloads) expect(await download()).toBeLessThan(LARGE)
    expect((await upload.answer).status).toBe(404)
    await value(sockets.owner, "spaces.restore", { spaceId })
    expect(await (await startDownload("reader"))()).toBe(LARGE)
  })

  it("the deletion of an account ends what it is doing in the space, and keeps what it added", async () => {
    await join("removed", "editor")
    const added = await people.removed(`/api/files?name=kept.txt&spaceId=${spaceId}`, {
      method: "POST",
      body: "kept",
    })
    const { files } = (await added.json()) as { files: { _id: string }[] }
    const download = await startDownload("removed")
    const upload = await startUpload("removed")
    await sql`delete from users where _id = ${ids.removed}`
    expect(await download()).toBeLessThan(LARGE)
    expect((await upload.answer).status).toBe(404)
    expect(await (await people.reader(`/api/files/${files[0]?._id}`)).text()).toBe("kept")
  })
})

async function join(who: Who, role: string) {
  await sql`insert into space_members (space_id, user_id, role) values (${spaceId}, ${ids[who]}, ${role})`
}

function begin(person: Person, length: number): Promise<Response> {
  const headers = { "Upload-Length": String(length), "Upload-Metadata": metadataOf("u.bin") }
  return create((address, init) => person(`${address}?spaceId=${spaceId}`, init), headers)
}

/** Reads nothing before it is called, and then until the end. Returns the number of bytes. */
async function startDownload(who: Who): Promise<() => Promise<number>> {
  const request = get(`${app.origin}/api/files/${largeId}`, { headers: { cookie: people[who].cookie() } })
  const [response] = (await once(request, "response")) as [IncomingMessage]
  expect(response.statusCode).toBe(200)
  response.on("error", () => {})
  return async () => {
    let size = 0
    response.on("data", (chunk: Buffer) => (size += chunk.length))
    await new Promise((resolve) => response.once("close", resolve))
    return size
  }
}

/** What the person's socket was told of uploads. */
function toldTo(who: Who): Uploading[] {
  return sockets[who].received
    .filter(({ name }) => name === "message")
    .map(({ event }) => (event as unknown as { message: Uploading }).message)
}

async function heard(who: Who, fits: (told: Uploading) => boolean) {
  await sockets[who].until(
    ({ name, event }) => name === "message" && fits((event as { message: Uploading }).message),
  )
}

/** Sends half, and waits. `answer` is the response. */
async function startUpload(who: Who, signal?: AbortSignal) {
  const created = await begin(people[who], 2_000_000)
  const before = (await storedPaths(app)).length
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(randomBytes(1_000_000)),
  })
  const address = created.headers.get("location") ?? ""
  const send = (path: string, init?: RequestInit) => people[who](path, { ...init, ...(signal && { signal }) })
  const answer = uploadAt(send, address).patch(0, body)
  await expect.poll(async () => (await storedPaths(app)).length).toBeGreaterThan(before)
  return { answer, address }
}

async function value(socket: LiveSocket, name: string, args: unknown): Promise<string> {
  const answer = await socket.mutate(name, args)
  if ("error" in answer) throw new Error(`${name}: ${JSON.stringify(answer.error)}`)
  return (answer.value as { _id?: string } | undefined)?._id ?? ""
}
