import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core"
import postgres from "postgres"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import type { FileSummary } from "#server/files/contract.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { findBrowser } from "../support/browser.ts"
import { ada as adaLovelace, signUp, type Person } from "../support/people.ts"

let app: TidelineApp
let browser: Browser
let ada: Person
beforeAll(async () => {
  app = await startTideline({ FILES_MAX_SIZE: "1MB" })
  browser = await chromium.launch({ executablePath: findBrowser(), args: ["--no-sandbox", "--disable-gpu"] })
  ada = await signUp(app, adaLovelace)
  // The record is made by the first page that asks for it.
  await ada("/dashboard")
  const sql = postgres(app.databaseUrl, { max: 1 })
  await sql`update users set onboarding_completed = true`
  await sql.end()
})
afterAll(async () => {
  await browser.close()
  await app.stop()
})
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
  const { files } = (await (await ada("/api/files")).json()) as { files: FileSummary[] }
  for (const file of files) await ada(`/api/files/${file._id}`, { method: "DELETE" })
})

describe("the page of files", () => {
  it("takes in several files at once, and says of each that is refused why", async () => {
    const page = await open("/dashboard/files")
    await page.getByText("No files yet").waitFor()
    await choose(page, { "one.txt": "1", "two.txt": "22", "film.mov": "x".repeat(1_000_001) })
    await link(page, "one.txt").waitFor()
    await link(page, "two.txt").waitFor()
    const uploads = page.getByRole("region", { name: "Uploads" })
    await uploads.getByText("2 files uploaded, 1 file not uploaded").waitFor()
    await uploads.getByText("It is too large: a file can be 1 MB at most.").waitFor()
    await page.getByRole("button", { name: "Dismiss film.mov" }).click()
    await uploads.waitFor({ state: "detached" })
  })

  it("takes in what is dropped anywhere on it", async () => {
    const page = await open("/dashboard/files")
    await choose(page, { "before.txt": "the page listens" })
    await link(page, "before.txt").waitFor()
    const dropped = await page.evaluateHandle(() => {
      const transfer = new DataTransfer()
      transfer.items.add(new File(["dropped"], "dropped.txt"))
      return transfer
    })
    await page.dispatchEvent("body", "dragenter", { dataTransfer: dropped })
    await page.getByText("Drop to upload").waitFor()
    await page.dispatchEvent("body", "drop", { dataTransfer: dropped })
    await link(page, "dropped.txt").waitFor()
    expect(await page.getByText("Drop to upload").count()).toBe(0)
  })

  it("cancels an upload, and nothing of it stays", async () => {
    const page = await open("/dashboard/files")
    await choose(page, { "first.txt": "the page listens" })
    await link(page, "first.txt").waitFor()
    const network = await page.context().newCDPSession(page)
    const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 50_000 }
    await network.send("Network.emulateNetworkConditions", slow)
    await choose(page, { "slow.bin": "x".repeat(900_000) })
    await page.getByRole("progressbar", { name: "Sending slow.bin" }).waitFor()
    await page.getByRole("button", { name: "Cancel slow.bin" }).click()
    await expect.poll(() => usage()).toEqual({ used: 16, reserved: 0 })
    expect(await link(page, "slow.bin").count()).toBe(0)
  })

  it("renames and deletes by the keyboard, and keeps its place", async () => {
    const page = await open("/dashboard/files")
    await choose(page, { "below.txt": "1" })
    await link(page, "below.txt").waitFor()
    await choose(page, { "draft.txt": "2" })
    await link(page, "draft.txt").focus()

    await page.keyboard.press("F2")
    await page.keyboard.type("given up")
    await page.keyboard.press("Escape")
    expect(await focused(page)).toBe("draft.txt")

    await page.keyboard.press("F2")
    await page.keyboard.type("final")
    await page.keyboard.press("Enter")
    await link(page, "final.txt").waitFor()
    expect(await focused(page)).toBe("final.txt")

    await page.keyboard.press("F2")
    await page.keyboard.type("below")
    await page.keyboard.press("Enter")
    await page.getByText("You have another file called below.txt.").waitFor()
    await link(page, "final.txt").waitFor()

    await page.keyboard.press("Delete")
    await page.getByRole("heading", { name: "Delete final.txt?" }).waitFor()
    await page.getByRole("button", { name: "Delete", exact: true }).press("Enter")
    await link(page, "final.txt").waitFor({ state: "detached" })
    await expect.poll(() => focused(page)).toBe("below.txt")
  })

  it("keeps the search in the address, also when going back", async () => {
    const page = await open("/dashboard/files")
    await choose(page, { "tides.txt": "1", "winds.txt": "2" })
    await link(page, "winds.txt").waitFor()
    const search = page.getByRole("searchbox")
    await search.pressSequentially("tid")
    await link(page, "winds.txt").waitFor({ state: "detached" })
    expect(new URL(page.url()).searchParams.get("q")).toBe("tid")
    await search.pressSequentially("al")
    await page.getByText("No file is called “tidal”").waitFor()
    await page.goBack()
    await link(page, "winds.txt").waitFor()
    expect(await search.inputValue()).toBe("")
  })

  it("uploads, finds, downloads and deletes without JavaScript", async () => {
    const page = await open("/dashboard/files", { javaScriptEnabled: false })
    await page.setInputFiles("input[name=file]", asFiles({ "plain.txt": "sent by a form", "other.txt": "2" }))
    await page.getByRole("button", { name: "Upload", exact: true }).click()
    await link(page, "other.txt").waitFor()
    await page.getByRole("searchbox").fill("plain")
    await page.getByRole("button", { name: "Search", exact: true }).click()
    await link(page, "plain.txt").waitFor()
    expect(await link(page, "other.txt").count()).toBe(0)
    const download = page.waitForEvent("download")
    await page.getByRole("link", { name: "Download plain.txt" }).click()
    expect((await download).suggestedFilename()).toBe("plain.txt")
    await page.getByRole("button", { name: "Delete plain.txt" }).click()
    await page.getByText("No file is called “plain”").waitFor()
    await page.goto("/dashboard/files")
    await page.setInputFiles("input[name=file]", asFiles({ "film.mov": "x".repeat(1_000_001) }))
    await page.getByRole("button", { name: "Upload", exact: true }).click()
    await page.getByText("film.mov is too large. A file can be 1 MB at most.").waitFor()
  })
})

describe("a file with a script in it", () => {
  const script = "document.title = origin; fetch('/api/files')"
  it.each([
    ["page.html", `<!doctype html><title>quiet</title><script>${script}</script>`],
    ["drawing.svg", `<svg xmlns="http://www.w3.org/2000/svg"><script>${script}</script></svg>`],
    ["page.xhtml", `<html xmlns="http://www.w3.org/1999/xhtml"><script>${script}</script></html>`],
    [
      "feed.xml",
      `<?xml version="1.0"?><a><script xmlns="http://www.w3.org/1999/xhtml">${script}</script></a>`,
    ],
    ["plain", `<!doctype html><script>${script}</script>`],
  ])("runs none of it when it is opened: %s", async (name, content) => {
    const response = await ada(`/api/files?name=${name}`, { method: "POST", body: content })
    const { files } = (await response.json()) as { files: [FileSummary] }
    const page = await open("/dashboard/files")
    const asked: string[] = []
    page.context().on("request", (request) => asked.push(new URL(request.url()).pathname))
    const address = `/api/files/${files[0]._id}`
    const saved = page.waitForEvent("download").then(() => "saved")
    const shown = page.goto(address).then(() => "shown")
    // A navigation that becomes a download fails, and the page stays.
    shown.catch(() => {})
    saved.catch(() => {})
    expect(await Promise.any([saved, shown])).toBe(name === "plain" ? "shown" : "saved")
    if (name === "plain") {
      expect(await page.evaluate(() => origin)).toBe("null")
      expect(await page.textContent("body")).toBe(content)
    }
    expect(asked).not.toContain("/api/files")
  })
})

async function open(path: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ baseURL: app.origin, ...options })
  const cookies = ada
    .cookie()
    .split("; ")
    .map((pair) => ({
      name: pair.slice(0, pair.indexOf("=")),
      value: pair.slice(pair.indexOf("=") + 1),
      url: app.origin,
    }))
  await context.addCookies(cookies)
  const page = await context.newPage()
  await page.goto(path)
  if (options.javaScriptEnabled !== false) await page.waitForFunction(isAwake)
  return page
}

/** React has taken over what the server drew: its buttons listen. */
function isAwake() {
  const button = document.querySelector("main button")
  return button !== null && Object.keys(button).some((key) => key.startsWith("__reactProps"))
}

async function choose(page: Page, files: Record<string, string>) {
  const chooser = page.waitForEvent("filechooser")
  await page.getByRole("button", { name: "Upload", exact: true }).click()
  await (await chooser).setFiles(asFiles(files))
}

function asFiles(files: Record<string, string>) {
  return Object.entries(files).map(([name, content]) => ({
    name,
    mimeType: "application/octet-stream",
    buffer: Buffer.from(content),
  }))
}

function link(page: Page, name: string) {
  return page.getByRole("link", { name, exact: true })
}

function focused(page: Page) {
  return page.evaluate(() => document.activeElement?.textContent)
}

async function usage() {
  const sql = postgres(app.databaseUrl, { max: 1 })
  const [row] = await sql`select used::int, reserved::int from file_usage`
  await sql.end()
  return row && { ...row }
}
