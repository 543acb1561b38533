import { spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import type { Browser, Page } from "playwright-core"
import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { giveCookies, launchBrowser, takenOver } from "../support/browser.ts"
import { applyBlocks, blocksOf } from "../support/guide.ts"
import { openLiveSocket, realtimeToken } from "../support/live.ts"
import { ada, grace, postJson, signUp, type Person } from "../support/people.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { findFreePort } from "../support/ports.ts"
import { spawnTideline } from "../support/spawn-tideline.ts"
import { readZip } from "../support/zip.ts"

const root = resolve(import.meta.dirname, "../..")
const COPIED = ["app", "bench", "db", "docs", "gallery", "live", "ops", "public", "server", "tests"]
const FILES = [
  ".oxfmtrc.json",
  ".oxlintrc.json",
  "drizzle.config.ts",
  "languages.config.ts",
  "lingui.config.ts",
  "package-lock.json",
  "package.json",
  "react-router.config.ts",
  "THIRD-PARTY-LICENSES.txt",
  "tsconfig.json",
  "vite.config.ts",
]

const blocks = blocksOf(readFileSync(join(root, "docs/adding-a-record.md"), "utf8"))
const added = blocks.filter(({ language }) => language.startsWith("ts")).map(({ path }) => path)

let copy: string
let database: Awaited<ReturnType<typeof createTestDatabase>>
let sql: postgres.Sql
let server: ReturnType<typeof spawnTideline>
let app: { origin: string }
let browser: Browser
let people: { ada: Person; grace: Person }

// The guide as somebody follows it: its code, the commands that it names, and the build.
beforeAll(async () => {
  copy = mkdtempSync(join(tmpdir(), "tideline-guide-"))
  for (const name of [...COPIED, ...FILES]) cpSync(join(root, name), join(copy, name), { recursive: true })
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"))
  const [translations, code] = [true, false].map((isPo) =>
    blocks.filter(({ language }) => (language === "po") === isPo),
  )
  applyBlocks(copy, code ?? [])
  await Promise.all([
    run("node", "db/generate.ts", "--name", "add_records"),
    run("lingui", "extract", "--clean"),
  ])
  applyBlocks(copy, translations ?? [])
  await run("lingui", "check", "missing")
  await run("node", "server/commands/react-router.ts", "typegen")
  const changed = [...new Set(blocks.map(({ path }) => path))].filter((path) => path.includes(".ts"))
  await Promise.all([
    run("oxfmt", "--check", ...added),
    run("oxlint", "--type-aware", "--type-check", "--max-warnings=0", ...changed),
    run("node", "server/commands/react-router.ts", "build", "--logLevel", "warn"),
  ])
  database = await createTestDatabase()
  sql = postgres(database.url, { max: 1 })
  const port = await findFreePort()
  server = spawnTideline(
    mkdtempSync(join(copy, "folder-")),
    { PORT: String(port), DATABASE_URL: database.url, SPACES: "on" },
    copy,
  )
  app = { origin: String((await server.logged("Tideline is ready"))["url"]) }
  browser = await launchBrowser()
  people = { ada: await signUp(app, ada), grace: await signUp(app, grace) }
  for (const person of Object.values(people)) await person("/onboarding")
  await sql`update users set onboarding_completed = true`
  await sql`update auth.user set email_verified = true`
}, 300_000)
afterAll(async () => {
  await browser?.close()
  server?.child.kill("SIGTERM")
  await server?.exited
  await sql?.end()
  await database?.close()
  rmSync(copy, { recursive: true, force: true })
})

describe("the notes of the guide", () => {
  it("are live in two browsers, and forms change them with and without JavaScript", async () => {
    const [here, there] = await Promise.all([
      open(people.ada, "/dashboard/notes"),
      open(people.ada, "/dashboard/notes"),
    ])
    await here.getByLabel("New note").fill("High water at six")
    await here.getByRole("button", { name: "Add note" }).click()
    const shown = there.getByRole("textbox", { name: "Note", exact: true })
    await expect.poll(() => shown.inputValue()).toBe("High water at six")
    const plain = await open(people.ada, "/dashboard/notes", { javaScriptEnabled: false })
    await plain.getByRole("textbox", { name: "Note", exact: true }).fill("High water at seven")
    await plain.getByRole("button", { name: /^Save/ }).click()
    await expect.poll(() => shown.inputValue()).toBe("High water at seven")
    await here.getByRole("button", { name: /^Delete/ }).click()
    await shown.waitFor({ state: "detached" })
  })

  it("are in German", async () => {
    const page = await open(people.ada, "/dashboard/notes", { locale: "de" })
    await page.getByRole("button", { name: "Notiz hinzufügen" }).waitFor() // cspell:disable-line
  })

  it("are in HTTP as OpenAPI describes it, and nobody else's", async () => {
    const made = await postJson(people.ada, "/api/notes", { body: "Mine" })
    const { note } = (await made.json()) as { note: { _id: string } }
    expect(made.status).toBe(201)
    expect((await postJson(people.ada, "/api/notes", { body: " " })).status).toBe(400)
    expect(await notesOf(people.ada)).toEqual(["Mine"])
    expect(await notesOf(people.grace)).toEqual([])
    const change = { method: "PATCH", body: JSON.stringify({ body: "Hers" }), headers: JSON_TYPE }
    expect((await people.grace(`/api/notes/${note._id}`, change)).status).toBe(404)
    expect((await people.grace("/api/notes/nothing", { method: "DELETE" })).status).toBe(404)
    expect((await people.ada(`/api/notes/${note._id}`, change)).status).toBe(200)
    const document = (await (await people.ada("/api/openapi.json")).json()) as { paths: object }
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(["/api/notes", "/api/notes/{noteId}"]))
  })

  it("need the scope of a limited key", async () => {
    expect([await ask("GET", "chat"), await ask("POST", "chat")]).toEqual([403, 403])
    expect([await ask("GET", "files:read"), await ask("POST", "files:read")]).toEqual([200, 403])
    expect(await ask("POST", "files:write")).toBe(201)
  })
})

describe("the tasks of the guide", () => {
  it("are live for members, revoked at the commit that ends a membership, and stay without their author", async () => {
    const made = await postJson(people.ada, "/api/spaces", { name: "Harbour" })
    const { space } = (await made.json()) as { space: { _id: string; slug: string } }
    const [member] = await sql`select _id from users where email = ${grace.email}`
    await sql`insert into space_members (space_id, user_id, role) values (${space._id}, ${member?.["_id"]}, 'reader')`
    const page = await open(people.ada, `/s/${space.slug}/tasks`)
    const socket = await openLiveSocket(app, await realtimeToken(people.grace))
    await socket.subscribe("tasks.list", { spaceId: space._id }, 1)
    await page.getByLabel("New task").fill("Light the lamp")
    await page.getByRole("button", { name: "Add task" }).click()
    await socket.until(({ event }) => JSON.stringify(event).includes("Light the lamp"))
    const path = `/api/spaces/${space._id}/tasks`
    expect((await postJson(people.grace, path, { title: "May a reader?" })).status).toBe(403)
    await sql`update space_members set role = 'editor' where user_id = ${member?.["_id"]}`
    expect((await postJson(people.grace, path, { title: "Row ashore" })).status).toBe(201)
    await page.getByRole("paragraph").filter({ hasText: "Row ashore" }).waitFor()

    await people.ada(`/api/spaces/${space._id}/members/${member?.["_id"]}`, { method: "DELETE" })
    await socket.until(({ name }) => name === "revoked")
    socket.close()
    expect((await people.grace(path)).status).toBe(404)
    expect((await postJson(people.grace, path, { title: "And now?" })).status).toBe(404)
    expect(await archiveOf(people.grace)).not.toContain("Row ashore")
    await deleteAccount(people.grace)
    expect([...(await sql`select title, user_id is null as nobody from tasks order by _id`)]).toEqual([
      { title: "Light the lamp", nobody: false },
      { title: "Row ashore", nobody: true },
    ])
    expect(await archiveOf(people.ada)).toContain("Light the lamp")
  })
})

// Last: it ends Ada's account.
it("the archive of the guide's person has their notes, which go with the account", async () => {
  await postJson(people.ada, "/api/notes", { body: "The last of them" })
  expect(await archiveOf(people.ada)).toContain("The last of them")
  await deleteAccount(people.ada)
  expect(await sql`select from notes`).toHaveLength(0)
})

const JSON_TYPE = { "content-type": "application/json" }

async function open(person: Person, path: string, options: object = {}): Promise<Page> {
  const context = await browser.newContext({ baseURL: app.origin, locale: "en", ...options })
  await giveCookies(context, person, app)
  const page = await context.newPage()
  await page.goto(path)
  if (!("javaScriptEnabled" in options)) await takenOver(page)
  return page
}

async function notesOf(person: Person): Promise<string[]> {
  const { notes } = (await (await person("/api/notes")).json()) as { notes: { body: string }[] }
  return notes.map(({ body }) => body)
}

async function archiveOf(person: Person): Promise<string> {
  const response = await person("/dashboard/account/export")
  return readZip(Buffer.from(await response.arrayBuffer()))
    .flat()
    .join("\n")
}

async function deleteAccount(person: Person): Promise<void> {
  const confirmation = { intent: "delete-account", confirmation: person.password }
  const form = new URLSearchParams(confirmation)
  expect((await person("/dashboard/account", { method: "POST", body: form })).status).toBe(303)
}

/** The status of a request for notes with a key of Ada's that is limited to the scope. */
async function ask(method: string, scope: string): Promise<number> {
  const response = await fetch(`${app.origin}/api/notes`, {
    method,
    headers: { authorization: `Bearer ${await keyFor(scope)}`, ...JSON_TYPE },
    ...(method === "POST" && { body: JSON.stringify({ body: "By a script" }) }),
  })
  return response.status
}

/** A key of Ada's that is limited to the scope. */
async function keyFor(scope: string): Promise<string> {
  const form = new URLSearchParams({
    intent: "create-key",
    name: "a script",
    days: "90",
    [scope]: "on",
  })
  const page = await (await people.ada("/dashboard/account", { method: "POST", body: form })).text()
  return /tide_[A-Za-z]{20,}/.exec(page)?.[0] ?? ""
}

/** Throws with what the command printed if it fails. */
async function run(command: string, ...words: string[]): Promise<void> {
  const child = spawn(command, words, {
    cwd: copy,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      PATH: `${join(copy, "node_modules/.bin")}:${process.env["PATH"]}`,
      NODE_ENV: "production",
    },
  })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)))
  const [code] = await once(child, "close")
  expect(code, `${command} ${words.join(" ")}\n${output}`).toBe(0)
}
