import { readFile } from "node:fs/promises"
import type { Browser, BrowserContextOptions } from "playwright-core"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import type { FileSummary, NewShare } from "#server/files/contract.ts"
import { post } from "../support/api.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { faultsInEveryLook } from "../support/axe.ts"
import { launchBrowser } from "../support/browser.ts"
import { ada as adaLovelace, signUp, type Person } from "../support/people.ts"

const NAME = "Tide tables of the whole year, with remarks on currents and winds ".repeat(3).trim() + ".csv"

let app: TidelineApp
let browser: Browser
let ada: Person
let file: FileSummary
beforeAll(async () => {
  app = await startTideline()
  browser = await launchBrowser()
  ada = await signUp(app, adaLovelace)
  const answer = await ada(`/api/files?name=${encodeURIComponent(NAME)}`, {
    method: "POST",
    body: "noon,high",
  })
  const { files } = (await answer.json()) as { files: FileSummary[] }
  if (!files[0]) throw new Error("Nothing was stored.")
  file = files[0]
})
afterAll(async () => {
  await browser.close()
  await app.stop()
})
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
})

describe("the page of a share link", () => {
  it("gives the file to anyone who knows the password, without any script", async () => {
    const { url } = await share({ password: "open sesame" })
    const page = await visit({ javaScriptEnabled: false })
    await page.goto(`${url}/download`)
    expect(page.url()).toBe(url)
    expect(await page.content()).not.toContain("Tide tables")
    await page.getByLabel("Password").fill("guess")
    await page.getByRole("button", { name: "Show the file" }).click()
    await page.getByText("That password is wrong.").waitFor()
    await page.getByLabel("Password").fill("open sesame")
    await page.keyboard.press("Enter")
    await page.getByText(NAME).waitFor()
    const downloading = page.waitForEvent("download")
    await page.getByRole("link", { name: "Download" }).click()
    const download = await downloading
    expect(download.suggestedFilename()).toBe(NAME)
    expect(await readFile(await download.path(), "utf8")).toBe("noon,high")
  })

  it("says nothing about an expired link except that it is over", async () => {
    const { url, share: made } = await share({})
    const page = await visit({})
    await page.goto(url)
    await page.getByText(NAME).waitFor()
    await ada(`/api/files/shares/${made._id}`, { method: "DELETE" })
    await page.getByRole("link", { name: "Download" }).click()
    await page.getByRole("heading", { name: "This link doesn't work" }).waitFor()
    expect(page.url()).toBe(url)
  })

  it("loads only what it shows, and never leaks its URL to another site", async () => {
    const { url } = await share({})
    const page = await visit({})
    const asked: string[] = []
    page.on("request", (request) => asked.push(request.url()))
    await page.goto(url)
    await page.getByText(NAME).waitFor()
    expect(asked.filter((address) => !address.startsWith(app.origin))).toEqual([])
    expect(asked.filter((address) => address.endsWith(".js"))).toEqual([])
    expect(await page.locator("meta[name=robots]").getAttribute("content")).toBe("noindex, nofollow")
  })

  it("has no accessibility violations in light and dark colours and fits into narrow and wide windows", async () => {
    const open = await share({ expiresAt: Date.now() + 86_400_000 })
    const locked = await share({ password: "open sesame" })
    const page = await visit({})
    for (const [name, address] of [
      ["open", open.url],
      ["locked", locked.url],
      ["gone", `${app.origin}/share/${"x".repeat(27)}`],
    ] as const) {
      await page.goto(address)
      expect(await faultsInEveryLook(page), name).toEqual([])
    }
  })
})

async function share(limits: object): Promise<NewShare> {
  const answer = await ada(`/api/files/${file._id}/shares`, post(limits))
  return (await answer.json()) as NewShare
}

async function visit(options: BrowserContextOptions) {
  const context = await browser.newContext(options)
  return context.newPage()
}
