import { createHash, randomBytes } from "node:crypto"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest"
import { inAll } from "../support/all.ts"
import { spawnTideline } from "../support/spawn-tideline.ts"
import { takenOver } from "../support/browser.ts"
import { choose, link, openFilesBrowser, type FilesBrowser } from "../support/files-browser.ts"
import { withResource } from "../support/with-resource.ts"

// A browser, a server and a database share the machine with other tests.
vi.setConfig({ testTimeout: 90_000 })

const MB = 1_000_000
const PART = 16 * 1024 * 1024

const files = withResource(() => openFilesBrowser({ FILES_MAX_SIZE: "40MB", FILES_QUOTA_FREE: "60MB" }))
let open: FilesBrowser["open"]
let folder: string
beforeAll(async () => {
  open = files.open
  folder = mkdtempSync(join(tmpdir(), "tideline-uploads-"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))
afterEach(() => files.clear())

describe("uploading files", () => {
  it("accepts several together, and gives a reason for each that is refused", async () => {
    const page = await open("/dashboard/files")
    await page.getByText("No files yet").waitFor()
    await choose(page, [fileOf("one.txt", 1), fileOf("two.txt", 2), fileOf("film.mov", 40 * MB + 1)])
    await link(page, "one.txt").waitFor()
    await link(page, "two.txt").waitFor()
    await panel(page).getByText("2 files uploaded, 1 file not uploaded").waitFor()
    await panel(page).getByText("It's too large. The largest file allowed is 40 MB.").waitFor()
    await page.getByRole("button", { name: "Dismiss film.mov" }).click()
    await panel(page).waitFor({ state: "detached" })
  })

  it("accepts files dropped anywhere on the page", async () => {
    const page = await open("/dashboard/files")
    await drop(page, "dropped.txt", "dropped")
    await link(page, "dropped.txt").waitFor()
    expect(await page.getByText("Drop to upload").count()).toBe(0)
  })

  it("uploads what can be read of dropped folders, and names what cannot, and empty ones", async () => {
    mkdirSync(join(folder, "project/private"), { recursive: true })
    mkdirSync(join(folder, "project/notes"))
    mkdirSync(join(folder, "nothing"))
    writeFileSync(join(folder, "nothing/.DS_Store"), "1")
    writeFileSync(join(folder, "project/plan.txt"), "2")
    writeFileSync(join(folder, "project/notes/list.txt"), "3")
    writeFileSync(join(folder, "project/private/diary.txt"), "4")
    const page = await open("/dashboard/files")
    // Tests may run as root, who can read every folder.
    await page.evaluate(`
      const entryOf = DataTransferItem.prototype.webkitGetAsEntry
      DataTransferItem.prototype.webkitGetAsEntry = function () {
        const entry = entryOf.call(this)
        const directory = Object.getPrototypeOf(entry)
        const create = directory.createReader
        directory.createReader = function () {
          const reader = create.call(this)
          if (this.name === "private")
            reader.readEntries = (found, failed) => failed(new DOMException("No permission", "NotReadableError"))
          return reader
        }
        return entry
      }`)
    await dropPaths(page, [join(folder, "project"), join(folder, "nothing")])
    await link(page, "plan.txt").waitFor()
    await link(page, "list.txt").waitFor()
    await page.getByText("“project/private” couldn't be read").first().waitFor()
    await page.getByText("“nothing” has no files in it").first().waitFor()
    expect(await files.list()).toHaveLength(2)
  })

  it("says where files can be dropped on pages that take none, and stays there", async () => {
    writeFileSync(join(folder, "lost.txt"), "found")
    const page = await open("/dashboard/account")
    await dropPaths(page, [join(folder, "lost.txt")])
    await page.getByText("Files can't be dropped here").first().waitFor()
    expect(page.url()).toMatch(/account$/)
    expect(page.context().pages()).toHaveLength(1)
    await page.getByRole("link", { name: "Files", exact: true }).first().click()
    await page.getByText("No files yet").waitFor()
    await dropPaths(page, [join(folder, "lost.txt")])
    await link(page, "lost.txt").waitFor()
  })

  inAll("accepts pasted files, and names a copied image", async () => {
    const page = await open("/dashboard/files")
    await page.evaluate(() => {
      const clipboardData = new DataTransfer()
      clipboardData.items.add(new File(["picture"], "image.png", { type: "image/png" }))
      clipboardData.items.add(new File(["text"], "copied.txt"))
      document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }))
    })
    await link(page, "copied.txt").waitFor()
    await page.getByRole("link", { name: /^Pasted \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d\.png$/ }).waitFor()
  })

  inAll("keeps only the file names from a folder, and skips system files", async () => {
    mkdirSync(join(folder, "letters/1843"), { recursive: true })
    writeFileSync(join(folder, "letters/first.txt"), "1")
    writeFileSync(join(folder, "letters/1843/second.txt"), "2")
    writeFileSync(join(folder, "letters/1843/.DS_Store"), "3")
    const page = await open("/dashboard/files")
    const chooser = page.waitForEvent("filechooser")
    await page.getByRole("button", { name: "Upload: more ways" }).click()
    await page.getByRole("menuitem", { name: "Upload a folder" }).click()
    await (await chooser).setFiles(join(folder, "letters"))
    await link(page, "first.txt").waitFor()
    await link(page, "second.txt").waitFor()
    await panel(page).getByText("2 files uploaded").waitFor()
    expect(await files.list()).toHaveLength(2)
  })

  inAll("uploads fifty files, a few at a time", async () => {
    const page = await open("/dashboard/files")
    let running = 0
    let most = 0
    page.on("request", (request) => {
      if (request.method() === "POST") most = Math.max(most, ++running)
    })
    page.on("requestfinished", (request) => {
      if (request.method() === "POST") running--
    })
    const names = Array.from({ length: 50 }, (_, at) => `sheet ${at + 1}.txt`)
    await choose(page, Object.fromEntries(names.map((name) => [name, name])))
    await panel(page).getByText("50 files uploaded").waitFor({ timeout: 60_000 })
    const stored = (await files.list()).map(({ fileName }) => fileName)
    expect(stored.toSorted()).toEqual(names.toSorted())
    expect(most).toBeLessThanOrEqual(3)
    await panel(page).waitFor({ state: "detached" })
  })

  inAll("frees their space immediately when they are cancelled", async () => {
    const page = await open("/dashboard/files")
    const network = await slow(page, 4 * MB)
    await choose(page, [fileOf("whole.bin", MB), fileOf("parts.bin", 28 * MB)])
    await arrived(page)
    expect(await files.usage()).toMatchObject({ reserved: 28 * MB })
    await page.getByRole("button", { name: "Cancel parts.bin" }).click()
    await network.fast()
    await expect.poll(() => files.usage()).toEqual({ used: MB, reserved: 0 })
    expect((await files.list()).map(({ fileName }) => fileName)).toEqual(["whole.bin"])
    expect(await files.sql`select 1 from uploads`).toHaveLength(0)
  })

  inAll("can be paused and resumed, while other files go first", async () => {
    const page = await open("/dashboard/files")
    const network = await slow(page, 4 * MB)
    const path = fileOf("film.mov", 28 * MB)
    await choose(page, path)
    await arrived(page)
    await page.getByRole("button", { name: "Pause film.mov" }).click()
    await panel(page)
      .getByText(/^Paused · /)
      .waitFor()
    await choose(page, { "note.txt": "1" })
    await link(page, "note.txt").waitFor()
    await network.fast()
    const sent = patches(page)
    await page.getByRole("button", { name: "Resume film.mov" }).click()
    await link(page, "film.mov").waitFor()
    expect(sent()[0]).toBeGreaterThanOrEqual(PART)
    await expectWhole("film.mov", path)
  })

  it("continues on other pages of the dashboard, and asks before leaving", async () => {
    const page = await open("/dashboard/files")
    await slow(page, 8 * MB)
    await choose(page, fileOf("film.mov", 39 * MB))
    await arrived(page)
    await page.getByRole("navigation", { name: "Dashboard" }).getByRole("link", { name: "Chat" }).click()
    await page.waitForURL("**/dashboard/chat")
    await arrived(page)
    await slow(page, MB)
    const asked = page.waitForEvent("dialog")
    await page
      .evaluate(() => {
        location.href = "/pricing"
      })
      .catch(() => {})
    expect((await asked).type()).toBe("beforeunload")
  })
})

describe("an interrupted upload", () => {
  it("continues where it was after a reload, once the file is chosen again", async () => {
    const page = await open("/dashboard/files")
    const network = await slow(page, 4 * MB)
    const path = fileOf("film.mov", 32 * MB)
    await choose(page, path)
    await arrived(page)
    await page.reload()
    await panel(page)
      .getByText(/^Choose this file again to resume/)
      .waitFor()
    await network.fast()
    const sent = patches(page)
    await choose(page, path, "Choose again")
    await link(page, "film.mov").waitFor()
    expect(sent()[0]).toBeGreaterThanOrEqual(PART)
    await expectWhole("film.mov", path)
    expect(await files.list()).toHaveLength(1)
  })

  inAll("continues automatically after a reload if the browser can find the file again", async () => {
    const page = await open("/dashboard/files")
    await page.context().addInitScript(() => {
      Object.assign(DataTransferItem.prototype, {
        getAsFileSystemHandle: async () => (await navigator.storage.getDirectory()).getFileHandle("film.mov"),
      })
    })
    await page.reload()
    await takenOver(page)
    await page.evaluate(async (size) => {
      const kept = await (await navigator.storage.getDirectory()).getFileHandle("film.mov", { create: true })
      const writing = await kept.createWritable()
      await writing.write(new Uint8Array(size).fill(7))
      await writing.close()
    }, 28 * MB)
    const network = await slow(page, 4 * MB)
    await page.evaluate(async () => {
      const kept = await (await navigator.storage.getDirectory()).getFileHandle("film.mov")
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(await kept.getFile())
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true }))
    })
    await arrived(page)
    const sent = patches(page)
    await page.reload()
    await network.fast()
    await link(page, "film.mov").waitFor()
    expect(sent().at(-1)).toBeGreaterThanOrEqual(PART)
    expect(await hashOf("film.mov")).toBe(sha256(Buffer.alloc(28 * MB, 7)))
  })

  it("continues automatically when the network is back, and sends nothing twice", async () => {
    const page = await open("/dashboard/files")
    const network = await slow(page, 4 * MB)
    const path = fileOf("film.mov", 32 * MB)
    await choose(page, path)
    await arrived(page)
    await page.context().setOffline(true)
    await panel(page)
      .getByText("You're offline. Uploads resume automatically when you're back online.")
      .waitFor()
    await network.fast()
    const sent = patches(page)
    await page.context().setOffline(false)
    await link(page, "film.mov").waitFor()
    expect(sent()[0]).toBeGreaterThanOrEqual(PART)
    await expectWhole("film.mov", path)
  })

  it("of a small file is stored once when its response is lost", async () => {
    const page = await open("/dashboard/files")
    const keys: (string | undefined)[] = []
    const stored = Promise.withResolvers<void>()
    await page.route("**/api/files?*", async (route) => {
      const request = route.request()
      if (request.method() !== "POST") return route.continue()
      keys.push(request.headers()["idempotency-key"])
      const isFirst = keys.length === 1
      const response = await route.fetch()
      if (!isFirst) return route.fulfill({ response })
      // The server has it, and the page does not know.
      stored.resolve()
      await route.abort()
    })
    await choose(page, { "note.txt": "high water" })
    await stored.promise
    await link(page, "note.txt").waitFor()
    await expect.poll(() => keys.length, { timeout: 30_000 }).toBe(2)
    await panel(page).getByText("1 file uploaded").waitFor()
    expect(await panel(page).getByRole("listitem").count()).toBe(0)
    expect(keys[0]).toBeTruthy()
    expect(keys[1]).toBe(keys[0])
    expect((await files.list()).map(({ fileName }) => fileName)).toEqual(["note.txt"])
  })

  it("is forgotten when another person uses the same browser", async () => {
    const page = await open("/dashboard/files")
    await slow(page, 4 * MB)
    await choose(page, fileOf("film.mov", 28 * MB))
    await arrived(page)
    await page.evaluate(async () => {
      const opening = indexedDB.open("tideline-uploads")
      const database = await new Promise<IDBDatabase>((resolve) => {
        opening.addEventListener("success", () => resolve(opening.result))
      })
      const store = database.transaction("unfinished", "readwrite").objectStore("unfinished")
      const all = store.getAll()
      await new Promise((resolve) => all.addEventListener("success", resolve))
      for (const upload of all.result as { userId: string }[]) store.put({ ...upload, userId: "grace" })
    })
    await page.reload()
    await page.getByText("No files yet").waitFor()
    expect(await panel(page).count()).toBe(0)
  })

  inAll("is continued by one tab only", async () => {
    const page = await open("/dashboard/files")
    // Its second part is never sent.
    await page.route("**/api/files/uploads/*", (route, request) =>
      Number(request.headers()["upload-offset"]) > 0 ? undefined : route.continue(),
    )
    await choose(page, fileOf("film.mov", 28 * MB))
    await arrived(page)
    const other = await open("/dashboard/files", { beside: page })
    await other.getByText("No files yet").waitFor()
    expect(await panel(other).count()).toBe(0)
    expect(await panel(page).getByText("film.mov").count()).toBe(1)
  })

  inAll("is finished by a server that was killed during the upload", async () => {
    const other = await openFilesBrowser({})
    onTestFinished(() => other.close())
    const { app } = other
    const page = await other.open("/dashboard/files")
    const network = await slow(page, 4 * MB)
    const path = fileOf("film.mov", 32 * MB)
    await choose(page, path)
    await arrived(page)
    process.kill(app.pid, "SIGKILL")
    await app.exited
    await panel(page)
      .getByText(/^The server isn't responding\. Resumes automatically/)
      .waitFor()
    await network.fast()
    const sent = patches(page)
    const again = spawnTideline(dirname(app.dataDir), {
      PORT: String(app.port),
      DATABASE_URL: app.databaseUrl,
    })
    onTestFinished(async () => {
      again.child.kill("SIGTERM")
      await again.exited
    })
    await link(page, "film.mov").waitFor({ timeout: 60_000 })
    expect(sent()[0]).toBeGreaterThanOrEqual(PART)
    const [file] = await other.sql`select sha256 from blobs`
    expect(file?.["sha256"]).toBe(sha256(contentOf.get(path)))
  })
})

describe("a refused upload", () => {
  inAll("says that there is not enough space, and succeeds once there is", async () => {
    const page = await open("/dashboard/files")
    await choose(page, [
      fileOf("first.bin", 28 * MB),
      fileOf("second.bin", 29 * MB),
      fileOf("third.bin", 27 * MB),
    ])
    await panel(page)
      .getByText(/^There isn't enough space for \w+\.bin\. Your files can take 60 MB together/)
      .waitFor()
    await panel(page).getByText("2 files uploaded, 1 file not uploaded").waitFor()
    await choose(page, fileOf("fourth.bin", 10 * MB))
    await panel(page)
      .getByText(/^There isn't enough space: \d+(\.\d)? MB left/)
      .waitFor()
    const [stored] = await files.list()
    await files.ada(`/api/files/${stored?._id}?permanently=1`, { method: "DELETE" })
    await page
      .getByRole("button", { name: /^Try \w+\.bin again$/ })
      .first()
      .click()
    await expect.poll(() => files.list(), { timeout: 20_000 }).toHaveLength(2)
  })

  inAll("says that nobody is signed in, and continues where it was afterwards", async () => {
    const page = await open("/dashboard/files")
    const network = await slow(page, 4 * MB)
    const path = fileOf("film.mov", 36 * MB)
    await choose(page, path)
    await arrived(page)
    const cookies = await page.context().cookies()
    // The second part is being sent already; the third is the one that is refused.
    await page.context().clearCookies()
    await panel(page)
      .getByText(/^You're signed out\. Sign in again in another tab, then retry/)
      .waitFor()
    await page.context().addCookies(cookies)
    await network.fast()
    const sent = patches(page)
    await page.getByRole("button", { name: "Try film.mov again" }).click()
    await link(page, "film.mov").waitFor()
    expect(sent()[0]).toBeGreaterThanOrEqual(PART)
    await expectWhole("film.mov", path)
  })
})

const contentOf = new Map<string, Buffer>()

/** A file on the disk, so that choosing it twice gives the same file. */
function fileOf(name: string, size: number): string {
  const path = join(folder, name)
  const content = randomBytes(size)
  contentOf.set(path, content)
  writeFileSync(path, content)
  return path
}

function panel(page: Page) {
  return page.getByRole("region", { name: "Uploads" })
}

/** Limits the page's upload rate, in bytes per second. */
async function slow(page: Page, uploadThroughput: number) {
  const session = await page.context().newCDPSession(page)
  const limit = (throughput: number) =>
    session.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: throughput,
    })
  await limit(uploadThroughput)
  return { fast: () => limit(-1) }
}

/** Resolves when the server has a part of a file, and the next one is being sent. */
async function arrived(page: Page) {
  await page.waitForRequest((request) => Number(request.headers()["upload-offset"]) > 0)
}

/** The offset of each part sent from now on. */
function patches(page: Page): () => number[] {
  const offsets: number[] = []
  page.on("request", (request) => {
    if (request.method() === "PATCH") offsets.push(Number(request.headers()["upload-offset"]))
  })
  return () => offsets
}

async function drop(page: Page, name: string, content: string) {
  const dropped = await page.evaluateHandle(
    ([fileName, text]) => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([text], fileName))
      return transfer
    },
    [name, content] as const,
  )
  await page.dispatchEvent("body", "dragenter", { dataTransfer: dropped })
  await page.getByText("Drop to upload").waitFor()
  await page.dispatchEvent("body", "drop", { dataTransfer: dropped })
}

/** As somebody drags them from a window of their file manager. */
async function dropPaths(page: Page, paths: string[]) {
  const devtools = await page.context().newCDPSession(page)
  const data = { items: [], files: paths, dragOperationsMask: 1 }
  for (const type of ["dragEnter", "dragOver", "drop"] as const)
    await devtools.send("Input.dispatchDragEvent", { type, x: 400, y: 300, data })
  await devtools.detach()
}

async function expectWhole(name: string, path: string) {
  expect(await hashOf(name)).toBe(sha256(contentOf.get(path)))
}

async function hashOf(name: string) {
  const file = (await files.list()).find(({ fileName }) => fileName === name)
  const response = await files.ada(`/api/files/${file?._id}`)
  return sha256(Buffer.from(await response.arrayBuffer()))
}

function sha256(bytes: Buffer | undefined) {
  return createHash("sha256")
    .update(bytes ?? "")
    .digest("hex")
}
