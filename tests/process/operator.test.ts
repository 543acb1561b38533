import { once } from "node:events"
import { Agent, get, request as open, type IncomingMessage } from "node:http"
import { randomBytes } from "node:crypto"
import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { ThreadSummary } from "#server/chat/contract.ts"
import { operatorOperations } from "#server/operator/operations-contract.ts"
import { postAsync } from "../support/api.ts"
import { formFor } from "../support/forms.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { openLiveSocket, realtimeToken, type LiveSocket } from "../support/live.ts"
import { ada, grace, openBrowser, postJson, signIn, signUp, type Person } from "../support/people.ts"
import { addSecondFactor } from "../support/second-factor.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { openScriptedGateway } from "../support/scripted-gateway.ts"
import { storedPaths } from "../support/stored-paths.ts"
import { begin, uploadAt } from "../support/uploads.ts"
import { withResource } from "../support/with-resource.ts"

/**
 * More than sockets and the server buffer between them, so that a download that nobody reads stays
 * open.
 */
const FILE = 40_000_000

const DONE = "/admin/people?did=:_id"

const gateway = withResource(openScriptedGateway)
const database = withResource(createTestDatabase)
let sql: postgres.Sql
let here: TidelineApp
let there: TidelineApp
let operator: Person
let person: Person
let userId: string
let key: string
beforeAll(async () => {
  sql = postgres(database.url, { max: 1 })
  const env = { DATABASE_URL: database.url, ADMIN_EMAILS: ada.email, ...gateway.env }
  here = await startTideline(env)
  there = await startTideline({ ...env, BLOBS_URL: `file://${here.dataDir}/blobs` })
  operator = await signUp(here, ada)
  await sql`update auth.user set email_verified = true, holder_confirmed = true where email = ${ada.email}`
  await addSecondFactor(operator, operator.password)
  await signUp(here, grace)
  person = await signIn(there, grace)
  await person("/onboarding")
  await sql`update users set onboarding_completed = true where email = ${grace.email}`
  const [row] = await sql<{ id: string }[]>`select id from auth.user where email = ${grace.email}`
  userId = row?.id ?? ""
  key = await person.apiKey()
})
afterAll(async () => {
  await Promise.all([here.stop(), there.stop()])
  await sql.end()
})

describe("the operator's page in one process", () => {
  it("shows another's connections and replies, stops a reply there, and signs its people out", async () => {
    const socket = await openLiveSocket(there, await realtimeToken(person))
    const answerId = await startReply()
    const overview = async () => (await operator("/admin")).text()
    await expect.poll(overview, { timeout: 10_000 }).toContain("1 live connection, 1 reply")
    const page = await overview()
    expect(page.match(/Process [\w.-]+:\d+/g)).toHaveLength(2)
    expect(page.match(/This one/g)).toHaveLength(1)
    expect(page).toContain("0 live connections, 0 replies")

    const stop = formFor(operatorOperations.stopReply, { answerId }, {}, "/admin?did=:_id")
    expect((await operator("/admin", stop)).status).toBe(303)
    await expect.poll(() => statusOf(answerId), { timeout: 10_000 }).toBe("stopped")

    await act(operatorOperations.signOut, DONE)
    await goodbye(socket)
    expect((await person("/api/files")).status).toBe(401)
    person = await signIn(there, grace)
  })
})

describe("a person whom an operator suspends at one process", () => {
  it("is off every page, socket, key, upload, download and reply of another one", async () => {
    const [bySession, byKey] = [
      await openLiveSocket(there, await realtimeToken(person)),
      await openLiveSocket(there, await realtimeToken(withKey(there) as Person)),
    ]
    const answerId = await startReply()
    const download = await startDownload()
    const upload = await startUpload()
    const proxy = openProxyConnection()
    expect((await proxy.send("POST", "/dashboard/account", person.cookie())).status).toBe(400)

    expect((await act(operatorOperations.suspend, DONE)).status).toBe(303)

    await Promise.all([goodbye(bySession), goodbye(byKey)])
    await Promise.all([download.ended(), upload.ended])
    await expect.poll(() => statusOf(answerId)).toBe("stopped")
    // A response that was sent before leaves its connection to the requests of others.
    expect(await proxy.send("GET", "/api/health")).toEqual({ status: 200, isReused: true })
    proxy.close()
    for (const app of [here, there]) {
      expect((await withKey(app)("/api/files")).status).toBe(401)
      expect((await withKey(app)("/api/realtime/token")).status).toBe(401)
      const page = await at(app, person)("/dashboard")
      expect([page.status, page.headers.get("location")]).toEqual([302, "/sign-in?redirect_url=%2Fdashboard"])
      expect((await at(app, person)("/api/files")).status).toBe(401)
    }
  })

  it("is told why where they were signed in, and nobody else is", async () => {
    for (const app of [here, there]) {
      expect(await (await at(app, person)("/sign-in")).text()).toContain("This account is suspended")
      expect(await (await openBrowser(app)("/sign-in")).text()).not.toContain("suspended")
    }
  })

  it("cannot sign in, and is told why once the password is right", async () => {
    for (const app of [here, there]) {
      const refused = await openBrowser(app)("/sign-in", signInForm(person.password))
      expect([refused.status, await refused.text()]).toEqual([
        403,
        expect.stringContaining("This account is suspended. Ask the administrator"),
      ])
      expect(refused.headers.get("set-cookie")).toBeNull()
      const wrong = await openBrowser(app)("/sign-in", signInForm("a wrong guess at it"))
      expect([wrong.status, await wrong.text()]).toEqual([401, expect.not.stringContaining("suspended")])
    }
    const api = await postJson(openBrowser(there), "/api/auth/sign-in/email", {
      email: grace.email,
      password: person.password,
    })
    expect([api.status, await api.json()]).toEqual([
      403,
      expect.objectContaining({ code: "ACCOUNT_SUSPENDED" }),
    ])
  })

  it("cannot sign in by a new password either", async () => {
    const page = await (await act(operatorOperations.makePasswordLink)).text()
    const token = /token=(\w+)/.exec(page)?.[1] ?? ""
    const browser = openBrowser(there)
    const body = new URLSearchParams({ token, password: "another engine of brass" })
    expect((await browser("/sign-in/new-password", { method: "POST", body })).status).toBe(303)
    const entered = await postJson(browser, "/api/auth/sign-in/email", {
      email: grace.email,
      password: "another engine of brass",
    })
    expect(entered.status).toBe(403)
    key = ""
  })

  it("has their data and signs in once they are allowed again, and is not signed in by that", async () => {
    expect((await act(operatorOperations.allow, DONE)).status).toBe(303)
    expect((await person("/dashboard")).status).toBe(302)
    person = await signIn(there, { ...grace, password: "another engine of brass" })
    const { files } = (await (await person("/api/files")).json()) as { files: { fileName: string }[] }
    expect(files.map(({ fileName }) => fileName)).toContain("large.bin")
  })

  it("keeps their keys, which work again once they are allowed again", async () => {
    key = await person.apiKey()
    await act(operatorOperations.suspend, DONE)
    expect((await withKey(there)("/api/files")).status).toBe(401)
    await act(operatorOperations.allow, DONE)
    expect((await withKey(there)("/api/files")).status).toBe(200)
  })
})

it("SQL that suspends somebody ends the same things", async () => {
  person = await signIn(there, { ...grace, password: "another engine of brass" })
  const socket = await openLiveSocket(there, await realtimeToken(person))
  const download = await startDownload()
  await sql`update auth.user set suspended_at = now() where id = ${userId}`
  await Promise.all([goodbye(socket), download.ended()])
  expect((await person("/dashboard")).status).toBe(302)
})

function goodbye(socket: LiveSocket) {
  return socket.until(({ name }) => name === "goodbye")
}

/** One connection to the other process for everybody's requests. */
function openProxyConnection() {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return {
    async send(method: string, path: string, cookie = "") {
      const asked = open(there.origin + path, { agent, method, headers: { cookie, origin: there.origin } })
      asked.end()
      const [response] = (await once(asked, "response")) as [IncomingMessage]
      response.resume()
      await once(response, "end")
      return { status: response.statusCode, isReused: asked.reusedSocket }
    },
    close: () => agent.destroy(),
  }
}

function signInForm(password: string) {
  return { method: "POST", body: new URLSearchParams({ email: grace.email, password }) }
}

/** The person's requests, to one process. */
function at(app: TidelineApp, who: Person) {
  return openBrowser(app, who.cookies())
}

function withKey(app: TidelineApp) {
  return (path: string, init: RequestInit = {}) =>
    fetch(app.origin + path, { ...init, redirect: "manual", headers: { authorization: `Bearer ${key}` } })
}

function act(operation: { name: string }, next?: string) {
  return operator("/admin/people", formFor(operation, { userId }, {}, next))
}

async function startReply(): Promise<string> {
  const made = await postJson(person, "/api/chat/threads", { title: "The sea" })
  const { thread } = (await made.json()) as { thread: ThreadSummary }
  const messages = [{ id: "q1", role: "user", parts: [{ type: "text", text: "How deep?" }] }]
  const before = gateway.answers.length
  const asked = await person("/api/chat", postAsync({ threadId: thread._id, messages }))
  expect(asked.status).toBe(202)
  const answer = await gateway.asked(before)
  answer.say("Very")
  return ((await asked.json()) as { answerId: string }).answerId
}

async function statusOf(answerId: string) {
  const [turn] = await sql<{ status: string }[]>`select status from chat_turns where _id = ${answerId}`
  return turn?.status
}

/** Reads nothing before `ended`, which resolves if the server has cut it short. */
async function startDownload(): Promise<{ ended(): Promise<void> }> {
  const name = "large.bin"
  const [known] = await sql<{ _id: string }[]>`select _id from files where file_name = ${name}`
  const fileId = known?._id ?? (await storeFile(name))
  const request = get(`${there.origin}/api/files/${fileId}`, { headers: { cookie: person.cookie() } })
  const [response] = (await once(request, "response")) as [IncomingMessage]
  expect(response.statusCode).toBe(200)
  response.on("error", () => {})
  // A connection that nobody reads does not notice its end.
  const ended = async () => {
    await new Promise((resolve) => response.once("close", resolve).resume())
    expect(response.complete).toBe(false)
  }
  return { ended }
}

async function storeFile(name: string): Promise<string> {
  const stored = await person(`/api/files?name=${name}`, { method: "POST", body: randomBytes(FILE) })
  return ((await stored.json()) as { files: { _id: string }[] }).files[0]?._id ?? ""
}

/** Sends half, and waits. `ended` resolves when the server cuts it short. */
async function startUpload(): Promise<{ ended: Promise<void> }> {
  const { address } = await begin(person, "half.bin", 2_000_000)
  const before = (await storedPaths(here)).length
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(randomBytes(1_000_000)),
  })
  const sent = uploadAt(person, address).patch(0, body)
  await expect.poll(async () => (await storedPaths(here)).length).toBeGreaterThan(before)
  return { ended: expect(sent).rejects.toThrow() }
}
