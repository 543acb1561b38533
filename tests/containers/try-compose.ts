import { execFile } from "node:child_process"
import { createHash, randomBytes } from "node:crypto"
import { writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { chromium, type Browser, type Page } from "playwright-core"
import { findBrowser, takenOver } from "../support/browser.ts"
import { choose, link } from "../support/files-browser.ts"
import { walkThroughFailovers } from "./failovers.ts"
import { cloneCommitted, step } from "./fresh-clone.ts"
import { signUp, visit } from "./visitor.ts"

// Walks through the containers as somebody who hosts them would: npm run try-compose [-- tls |
// scale | replicas] It takes a fresh clone of what is committed, in a project of its own, which it
// removes at the end. It needs Docker and a Chromium; all but the first need the ports 80 and 443.

const way = process.argv[2] ?? "plain"
const film = randomBytes(40_000_000)

const WAYS: Record<string, { settings: string[]; processes: string[]; origin?: string }> = {
  plain: { settings: [], processes: ["app"] },
  tls: {
    settings: ["COMPOSE_PROFILES=tls", "APP_URL=https://localhost", "TRUSTED_PROXIES=1"],
    processes: ["app"],
    origin: "https://localhost",
  },
  scale: {
    settings: ["COMPOSE_PROFILES=scale", "APP_URL=https://localhost", "TRUSTED_PROXIES=1", "DRAIN_DELAY=3"],
    processes: ["app", "app-2", "app-3"],
    origin: "https://localhost",
  },
  replicas: {
    settings: [
      "COMPOSE_PROFILES=replicas",
      "APP_URL=https://localhost",
      "TRUSTED_PROXIES=1",
      "DRAIN_DELAY=3",
      "DATABASE_SERVERS=postgres,postgres-2,postgres-3",
    ],
    processes: ["app", "app-2", "app-3"],
    origin: "https://localhost",
  },
}

const chosen = WAYS[way]
if (!chosen) throw new Error(`Say one of ${Object.keys(WAYS).join(", ")}.`)
const { settings, processes } = chosen

const clone = await cloneCommitted("tideline-try", settings)
const { compose } = clone
const upload = join(clone.folder, "film.mov")
const origin = chosen.origin ?? `http://localhost:${clone.port}`

let browser: Browser | undefined
try {
  await walk()
} catch (error) {
  process.exitCode = 1
  console.error(error)
  await showPage()
  console.error((await compose("logs", "--no-color", "--tail", "40")).stdout)
} finally {
  await browser?.close()
  await clone.remove()
}

async function walk() {
  await step("a fresh clone is built and comes up healthy", () => compose("up", "-d", "--build", "--wait"))
  await step("every volume has a name, so that none is left behind", expectNames)

  browser = await chromium.launch({
    executablePath: findBrowser(),
    args: ["--no-sandbox", "--disable-gpu", "--ignore-certificate-errors"],
  })
  const page = await browser.newPage({ ignoreHTTPSErrors: true, baseURL: origin })
  page.setDefaultTimeout(60_000)
  await step("somebody signs up and is shown around", () => signUp(page))
  await (way === "replicas" ? walkThroughFailovers(clone, page) : restartInTheMiddle(page))
}

async function restartInTheMiddle(page: Page) {
  writeFileSync(upload, film)
  const seen = await step("an answer begins, and everything is restarted in the middle of it", async () => {
    const words = await beginReply(page)
    await compose("restart")
    return words
  })
  await step("the answer ends on the open page, with the words that were there", () =>
    expectReply(page, seen),
  )

  await step("a file is on its way, and everything is restarted in the middle of it", async () => {
    const network = await beginUpload(page)
    await compose("restart")
    await network.fast()
  })
  await step("the upload goes on by itself, and nothing of it is lost", async () => {
    await link(page, "film.mov").waitFor({ timeout: 180_000 })
    await expectFilm(page)
  })

  if (chosen?.origin)
    await step("what a client says in X-Forwarded-For is replaced", () => expectReplaced(page))
  await step(`replaced while pages are asked for: ${processes.join(", ")}`, () => replaceInTurn(page))

  await step("all of it is taken down, and comes up again", async () => {
    await compose("down")
    await compose("up", "-d", "--wait")
  })
  await step("everything is there, and nobody has to sign in again", async () => {
    await visit(page, "/dashboard/chat")
    await page
      .getByRole("link", { name: /slow 20/ })
      .first()
      .click()
    await expectReply(page, seen)
    await visit(page, "/dashboard/files")
    await link(page, "film.mov").waitFor()
    await expectFilm(page)
  })
}

async function expectNames() {
  const containers = (await compose("ps", "--all", "--quiet")).stdout.trim().split("\n")
  const names = '{{range .Mounts}}{{if eq .Type "volume"}}{{.Name}} {{end}}{{end}}'
  const { stdout } = await promisify(execFile)("docker", ["inspect", "--format", names, ...containers])
  const volumes = stdout.split(/\s+/).filter((name) => name !== "")
  const strange = volumes.filter((name) => !name.startsWith(`${clone.project}_`))
  if (volumes.length === 0 || strange.length > 0) throw new Error(`Volumes: ${volumes.join(", ")}.`)
}

/** Resolves in the middle of an answer, with what of it is on the page. */
async function beginReply(page: Page): Promise<string> {
  await visit(page, "/dashboard/chat")
  await takenOver(page)
  await page.getByRole("textbox", { name: /./ }).last().fill("/slow 20")
  await page.keyboard.press("Enter")
  const answer = page.getByRole("log").getByRole("article").last()
  await answer.getByText("word 3,").waitFor()
  return "word 1, word 2, word 3"
}

async function expectReply(page: Page, words: string) {
  const answer = page.getByRole("log").getByRole("article").last()
  await answer.getByText(words).waitFor()
  // It was finished while the process drained, or ended early and kept by the one that came after.
  await page
    .getByText(/word 20|The server was interrupted/)
    .first()
    .waitFor({ timeout: 120_000 })
}

/** Resolves when a part is stored and the rest is on its way. */
async function beginUpload(page: Page) {
  await visit(page, "/dashboard/files")
  await takenOver(page)
  const network = await page.context().newCDPSession(page)
  const limit = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 2_000_000 }
  await network.send("Network.emulateNetworkConditions", limit)
  const second = page.waitForRequest((request) => Number(request.headers()["upload-offset"]) > 0)
  await choose(page, upload)
  await second
  return {
    fast: () => network.send("Network.emulateNetworkConditions", { ...limit, uploadThroughput: -1 }),
  }
}

async function expectFilm(page: Page) {
  const { files } = (await (await page.request.get("/api/files?limit=100")).json()) as {
    files: { _id: string; fileName: string }[]
  }
  const stored = files.filter(({ fileName }) => fileName === "film.mov")
  const answer = await page.request.get(`/api/files/${stored[0]?._id}`)
  if (stored.length !== 1 || sha256(await answer.body()) !== sha256(film))
    throw new Error(`film.mov is not what was sent: ${stored.length} of them, ${answer.status()}.`)
}

/** The health check is limited by the client's address, in each process. */
async function expectReplaced(page: Page) {
  for (let request = 0; request < 30 * processes.length + 1; request++) {
    const headers = { "x-forwarded-for": `192.0.2.${request}` }
    if ((await page.request.get("/api/health", { headers })).status() === 429) return
  }
  throw new Error("Every request counted as another client's.")
}

/**
 * As an upgrade does it. Behind a proxy every page that is asked for in the meantime is answered.
 */
async function replaceInTurn(page: Page) {
  const ended = new AbortController()
  const asking = chosen?.origin ? askOnAndOn(page, ended.signal) : Promise.resolve(0)
  // What it throws is thrown below.
  asking.catch(() => {})
  for (const name of processes) {
    await compose("up", "-d", "--no-deps", "--force-recreate", "--wait", name)
  }
  ended.abort()
  const pages = await asking
  if (chosen?.origin) process.stdout.write(`       ${pages} pages in the meantime\n`)
}

async function askOnAndOn(page: Page, signal: AbortSignal): Promise<number> {
  let asked = 0
  for (; !signal.aborted; asked++) {
    const answer = await page.request.get("/dashboard", { maxRedirects: 0, timeout: 60_000 })
    if (answer.status() !== 200) throw new Error(`/dashboard answered ${answer.status()} after ${asked}.`)
  }
  return asked
}

async function showPage() {
  const page = browser?.contexts()[0]?.pages()[0]
  if (!page) return
  const picture = join(tmpdir(), "tideline-try-compose.png")
  await page.screenshot({ path: picture })
  console.error(`${page.url()}: ${picture}`)
}

function sha256(bytes: Buffer) {
  return createHash("sha256").update(bytes).digest("hex")
}
