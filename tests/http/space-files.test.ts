import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { get, type IncomingMessage } from "node:http"
import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { openLiveSocket, realtimeToken, type LiveSocket } from "../support/live.ts"
import { signUp, type Person } from "../support/people.ts"
import { storedPaths } from "../support/stored-paths.ts"
import { create, metadataOf, uploadAt } from "../support/uploads.ts"

const ROLES = ["owner", "editor", "reader", "removed", "outsider"] as const
type Who = (typeof ROLES)[number]

/** More than sockets and the server buffer, so that a download that nobody reads stays open. */
const LARGE = 40_000_000
const UNKNOWN = "01a1fabb-7bb3-7c55-803b-f2a3db625462"

let app: TidelineApp
let sql: postgres.Sql
let people: Record<Who, Person>
let sockets: Record<Who, LiveSocket>
let ids: Record<Who, string>
let spaceId: string

beforeAll(async () => {
  app = await startTideline()
  sql = postgres(app.databaseUrl, { max: 2, onnotice: () => {} })
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
})
afterAll(async () => {
  for (const socket of Object.values(sockets)) socket.close()
  await sql.end()
  await app.stop()
})

interface Content {
  fileId: string
  trashedId: string
  shareId: string
}
interface Case {
  refuses: Partial<Record<Who, number>>
  ok: number
  send(person: Person, content: Content): Promise<Response>
}
const REFUSED = { reader: 403, removed: 404, outsider: 404 }
const HIDDEN = { removed: 404, outsider: 404 }
const json = (method: string, body: unknown) => ({
  method,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
})

const ROUTES: Record<string, Case> = {
  "GET /api/files": { refuses: HIDDEN, ok: 200, send: (person) => person(`/api/files?spaceId=${spaceId}`) },
  "GET /api/files/trash": {
    refuses: HIDDEN,
    ok: 200,
    send: (person) => person(`/api/files/trash?spaceId=${spaceId}`),
  },
  "GET /api/files/:fileId": {
    refuses: HIDDEN,
    ok: 200,
    send: (person, { fileId }) => person(`/api/files/${fileId}`),
  },
  "HEAD /api/files/:fileId": {
    refuses: HIDDEN,
    ok: 200,
    send: (person, { fileId }) => person(`/api/files/${fileId}`, { method: "HEAD" }),
  },
  // It is no image.
  "GET /api/files/:fileId/thumbnail": {
    refuses: HIDDEN,
    ok: 415,
    send: (person, { fileId }) => person(`/api/files/${fileId}/thumbnail`),
  },
  "GET /api/files/:fileId/shares": {
    refuses: HIDDEN,
    ok: 200,
    send: (person, { fileId }) => person(`/api/files/${fileId}/shares`),
  },
  "POST /api/files/archive, named": {
    refuses: HIDDEN,
    ok: 200,
    send: (person, { fileId }) => person("/api/files/archive", json("POST", { ids: [fileId] })),
  },
  "POST /api/files/archive, all": {
    refuses: HIDDEN,
    ok: 200,
    send: (person) =>
      person("/api/files/archive", {
        method: "POST",
        body: new URLSearchParams({ all: "1", spaceId }),
      }),
  },
  "POST /api/files": {
    refuses: REFUSED,
    ok: 201,
    send: (person) => person(`/api/files?name=b.txt&spaceId=${spaceId}`, { method: "POST", body: "b" }),
  },
  "POST /api/files, a form": {
    refuses: REFUSED,
    ok: 201,
    send(person) {
      const body = new FormData()
      body.append("file", new Blob(["c"]), "c.txt")
      return person(`/api/files?spaceId=${spaceId}`, { method: "POST", body })
    },
  },
  "POST /api/files/uploads": {
    refuses: REFUSED,
    ok: 201,
    send: (person) => begin(person, 3),
  },
  "PATCH /api/files/:fileId": {
    refuses: REFUSED,
    ok: 200,
    send: (person, { fileId }) => person(`/api/files/${fileId}`, json("PATCH", { fileName: "new.txt" })),
  },
  "DELETE /api/files/:fileId": {
    refuses: REFUSED,
    ok: 204,
    send: (person, { fileId }) => person(`/api/files/${fileId}`, { method: "DELETE" }),
  },
  "DELETE /api/files/:fileId?permanently=1": {
    refuses: REFUSED,
    ok: 204,
    send: (person, { fileId }) => person(`/api/files/${fileId}?permanently=1`, { method: "DELETE" }),
  },
  "POST /api/files/:fileId/restore": {
    refuses: REFUSED,
    ok: 200,
    send: (person, { trashedId }) => person(`/api/files/${trashedId}/restore`, { method: "POST" }),
  },
  "DELETE /api/files/trash": {
    refuses: REFUSED,
    ok: 200,
    send: (person) => person(`/api/files/trash?spaceId=${spaceId}`, { method: "DELETE" }),
  },
  "POST /api/files/:fileId/shares": {
    refuses: REFUSED,
    ok: 201,
    send: (person, { fileId }) => person(`/api/files/${fileId}/shares`, json("POST", {})),
  },
  "DELETE /api/files/shares/:shareId": {
    refuses: REFUSED,
    ok: 204,
    send: (person, { shareId }) => person(`/api/files/shares/${shareId}`, { method: "DELETE" }),
  },
}

const QUERIES: Record<string, (content: Content) => object> = {
  "files.list": () => ({ spaceId }),
  "files.listTrash": () => ({ spaceId }),
  "files.getFile": ({ fileId }) => ({ fileId, spaceId }),
  "files.listShares": ({ fileId }) => ({ fileId, spaceId }),
}

const MUTATIONS: Record<string, (content: Content) => object> = {
  "files.rename": ({ fileId }) => ({ fileId, fileName: "new.txt" }),
  "files.remove": ({ fileId }) => ({ fileId }),
  "files.restore": ({ trashedId }) => ({ fileId: trashedId }),
  "files.purge": ({ fileId }) => ({ fileId }),
  "files.emptyTrash": () => ({ spaceId }),
  "files.revokeShare": ({ shareId }) => ({ shareId }),
}

describe("files in a space", () => {
  for (const [name, { refuses, ok, send }] of Object.entries(ROUTES))
    it(`${name} answers each role as far as it may`, async () => {
      for (const who of ROLES) {
        const response = await send(people[who], await fill())
        expect([who, response.status]).toEqual([who, refuses[who] ?? ok])
        if (refuses[who] === 403) expect(await response.json()).toMatchObject({ reason: "space-reader" })
        else await response.body?.cancel()
      }
    })

  it("every live query and mutation answers each role as far as it may", async () => {
    for (const who of ROLES) {
      const { [who]: socket } = sockets
      const isMember = !(who in HIDDEN)
      for (const [name, args] of Object.entries(QUERIES)) {
        const answer = await socket.query(name, args(await fill()))
        expect([who, name, codeOf(answer)]).toEqual([who, name, isMember ? "ok" : "not_found"])
      }
      for (const [name, args] of Object.entries(MUTATIONS)) {
        const answer = await socket.mutate(name, args(await fill()))
        const expected = who === "reader" ? "forbidden" : isMember ? "ok" : "not_found"
        expect([who, name, codeOf(answer)]).toEqual([who, name, expected])
      }
    }
  })

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
    const stored = await people.owner(`/api/files?name=large.bin&spaceId=${spaceId}`, {
      method: "POST",
      body: randomBytes(LARGE),
    })
    const { files } = (await stored.json()) as { files: { _id: string }[] }
    const fileId = files[0]?._id ?? ""
    await join("removed", "editor")
    const downloads = {
      removed: await startDownload("removed", fileId),
      reader: await startDownload("reader", fileId),
    }
    const upload = await startUpload("removed")
    await value(sockets.owner, "spaces.removeMember", { spaceId, userId: ids.removed })
    expect(await downloads.removed()).toBeLessThan(LARGE)
    expect((await upload.answer).status).toBe(404)
    expect(await downloads.reader()).toBe(LARGE)
    expect((await sql`select from uploads where user_id = ${ids.removed} and reserved > 0`).length).toBe(1)
  })
})

/** A file, one in the trash and a link, which the editor added. */
async function fill(): Promise<Content> {
  await sql`delete from files where space_id = ${spaceId}`
  const { editor } = people
  const fileId = await idIn(
    await editor(`/api/files?name=a.txt&spaceId=${spaceId}`, { method: "POST", body: "a" }),
  )
  const trashedId = await idIn(
    await editor(`/api/files?name=t.txt&spaceId=${spaceId}`, { method: "POST", body: "t" }),
  )
  await editor(`/api/files/${trashedId}`, { method: "DELETE" })
  const shared = await editor(`/api/files/${fileId}/shares`, json("POST", {}))
  const { share } = (await shared.json()) as { share: { _id: string } }
  return { fileId, trashedId, shareId: share._id }
}

async function join(who: Who, role: string) {
  await sql`insert into space_members (space_id, user_id, role) values (${spaceId}, ${ids[who]}, ${role})`
}

async function idIn(response: Response): Promise<string> {
  const { files } = (await response.json()) as { files: { _id: string; userId: string; spaceId: string }[] }
  expect(files).toMatchObject([{ userId: ids.editor, spaceId }])
  return files[0]?._id ?? ""
}

function begin(person: Person, length: number): Promise<Response> {
  const headers = { "Upload-Length": String(length), "Upload-Metadata": metadataOf("u.bin") }
  return create((address, init) => person(`${address}?spaceId=${spaceId}`, init), headers)
}

/** Reads nothing before it is called, and then until the end. Returns the number of bytes. */
async function startDownload(who: Who, fileId: string): Promise<() => Promise<number>> {
  const request = get(`${app.origin}/api/files/${fileId}`, { headers: { cookie: people[who].cookie() } })
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

/** Sends half, and waits. `answer` is the response. */
async function startUpload(who: Who): Promise<{ answer: Promise<Response> }> {
  const created = await begin(people[who], 2_000_000)
  const before = (await storedPaths(app)).length
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(randomBytes(1_000_000)),
  })
  const sent = uploadAt(people[who], created.headers.get("location") ?? "").patch(0, body)
  await expect.poll(async () => (await storedPaths(app)).length).toBeGreaterThan(before)
  return { answer: sent }
}

async function value(socket: LiveSocket, name: string, args: unknown): Promise<string> {
  const answer = await socket.mutate(name, args)
  if ("error" in answer) throw new Error(`${name}: ${JSON.stringify(answer.error)}`)
  return (answer.value as { _id?: string } | undefined)?._id ?? ""
}

function codeOf(answer: object): string {
  return "error" in answer ? (answer.error as { code: string }).code : "ok"
}
