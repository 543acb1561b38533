import { execFile, execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { findFreePort } from "../support/ports.ts"

/**
 * Upgrades the containers of an earlier commit, with its data, to the current one, and goes back:
 *
 *     npm run try-upgrade -- c39d736
 *
 * It works in a clone and in a Docker project of its own, both of which it removes at the end. It
 * needs Docker, and covers what is committed.
 */

const root = resolve(import.meta.dirname, "../..")
const [older] = process.argv.slice(2)
if (!older) throw new Error("Name the commit to upgrade from: npm run try-upgrade -- <commit>")

const folder = mkdtempSync(join(tmpdir(), "tideline-upgrade-"))
const clone = join(folder, "tideline")
const newer = git(root, "rev-parse", "HEAD")
const port = await findFreePort()
const origin = `http://localhost:${port}`
const environment = {
  ...process.env,
  COMPOSE_PROJECT_NAME: "tideline-upgrade",
  PORT: String(port),
  MAIL_INBOX_PORT: String(await findFreePort()),
}
const bytes = randomBytes(5_000_000)

try {
  git(root, "clone", "--quiet", root, clone)
  await step(`${older} is built and becomes healthy`, () => bringUp(older))
  const before = await step("somebody signs up, stores a file, creates an API key and chats", fill)

  await step("the current commit is built and takes over", () => bringUp(newer))
  await step("the session, the key, the file and the conversation are there", () => expectAll(before))
  await step("the server's database role owns nothing and is no superuser", expectOwnRole)
  await step("nothing went wrong", expectQuietLog)
  await step("another file can be stored", () => store(before.cookie, "second.bin"))

  await step(`${older} takes over again`, () => bringUp(older))
  await step("the session, the key, the file and the conversation are there", () => expectAll(before))
} catch (error) {
  process.exitCode = 1
  console.error(error)
  console.error((await compose("logs", "--no-color", "--tail", "60")).stdout)
} finally {
  await compose("down", "--volumes", "--remove-orphans")
  rmSync(folder, { recursive: true, force: true })
}

async function bringUp(commit: string) {
  git(clone, "checkout", "--quiet", commit)
  await compose("up", "-d", "--build", "--wait")
}

/** What a person of the earlier version leaves. */
async function fill() {
  const account = { name: "Ada Lovelace", email: "ada@example.org", password: "an engine of brass and cards" }
  const signedUp = await send("/api/auth/sign-up/email", { json: account })
  const cookie = signedUp.headers.getSetCookie().map((line) => line.split(";", 1)[0])
  const session = cookie.join("; ")
  const { key } = await read<{ key: string }>("/api/auth/api-key/create", {
    cookie: session,
    json: { name: "backup" },
  })
  await store(session, "first.bin")
  const messages = [{ id: "one", role: "user", parts: [{ type: "text", text: "Hello" }] }]
  const answer = await (await send("/api/chat", { cookie: session, json: { messages } })).text()
  if (!answer.includes("text-delta")) throw new Error(`The chat replied ${answer.slice(0, 200)}`)
  const { thread } = await read<{ thread: { _id: string } }>("/api/chat/threads", {
    cookie: session,
    json: { title: "An engine" },
  })
  return { cookie: session, key, threadId: thread._id }
}

async function expectAll({ cookie, key, threadId }: Awaited<ReturnType<typeof fill>>) {
  const { files } = await read<{ files: { _id: string; fileName: string }[] }>("/api/files", { cookie })
  const first = files.find(({ fileName }) => fileName === "first.bin")
  const stored = await send(`/api/files/${first?._id}`, { authorization: `Bearer ${key}` })
  if (!Buffer.from(await stored.arrayBuffer()).equals(bytes))
    throw new Error("first.bin is another file now.")
  await read(`/api/chat/threads/${threadId}`, { cookie })
  if ((await send("/dashboard/account", { cookie, redirect: "manual" })).status >= 400)
    throw new Error("The account page failed.")
}

async function store(cookie: string, name: string) {
  const body = new FormData()
  body.append("file", new Blob([bytes]), name)
  await send("/api/files", { cookie, body })
}

async function expectOwnRole() {
  const query = `select string_agg(distinct usename, ',') || ' ' || bool_or(rolsuper) from pg_stat_activity
    join pg_roles on rolname = usename where client_addr is not null and usename is not null`
  const psql = ["psql", "-U", "tideline", "-d", "tideline", "-h", "/var/run/postgresql", "-Atc", query]
  const { stdout } = await compose("exec", "-T", "postgres", ...psql)
  if (stdout.trim() !== "tideline_app false") throw new Error(`The roles that are connected: ${stdout}`)
}

async function expectQuietLog() {
  const { stdout } = await compose("logs", "--no-color", "--no-log-prefix", "app")
  const complaints = stdout.split("\n").filter((line) => /^\{"level":[456]0/.test(line))
  if (complaints.length > 0) throw new Error(complaints.join("\n"))
}

interface Sent {
  cookie?: string
  authorization?: string
  json?: unknown
  body?: FormData
  redirect?: RequestRedirect
}

/** Throws for a status from 400 on. */
async function send(path: string, { cookie, authorization, json, body, redirect = "follow" }: Sent) {
  const headers = new Headers({ origin })
  if (cookie) headers.set("cookie", cookie)
  if (authorization) headers.set("authorization", authorization)
  if (json) headers.set("content-type", "application/json")
  const content = json ? JSON.stringify(json) : body
  const response = await fetch(origin + path, {
    headers,
    redirect,
    ...(content && { method: "POST", body: content }),
  })
  if (response.status >= 400) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response
}

async function read<Answer>(path: string, sent: Sent): Promise<Answer> {
  return (await (await send(path, sent)).json()) as Answer
}

async function step<Result>(words: string, act: () => Promise<Result>): Promise<Result> {
  const begun = Date.now()
  const result = await act()
  process.stdout.write(`  ok   ${words} (${((Date.now() - begun) / 1000).toFixed(0)} s)\n`)
  return result
}

function compose(...words: string[]) {
  const options = { cwd: clone, env: environment, maxBuffer: 1 << 28 }
  return promisify(execFile)("docker", ["compose", ...words], options)
}

function git(cwd: string, ...words: string[]): string {
  return execFileSync("git", words, { cwd, encoding: "utf8" }).trim()
}
