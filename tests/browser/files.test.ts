import { describe, afterAll, afterEach, beforeAll, expect, it } from "vitest"
import {
  asFiles,
  choose,
  focused,
  link,
  openFilesBrowser,
  type FilesBrowser,
} from "../support/files-browser.ts"

let files: FilesBrowser
let open: FilesBrowser["open"]
beforeAll(async () => {
  files = await openFilesBrowser({ FILES_MAX_SIZE: "1MB" })
  open = files.open
})
afterAll(() => files.close())
afterEach(() => files.clear())

describe("the page of files", () => {
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
    const { _id } = await files.add(name, content)
    const page = await open("/dashboard/files")
    const asked: string[] = []
    page.context().on("request", (request) => asked.push(new URL(request.url()).pathname))
    const address = `/api/files/${_id}`
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
