import type { Locator } from "playwright-core"
import { afterEach, expect, it, vi } from "vitest"
import { link, openFilesBrowser } from "../support/files-browser.ts"
import { withResource } from "../support/with-resource.ts"

// A browser, a server and a database share the machine with other tests.
vi.setConfig({ testTimeout: 90_000 })

const ARABIC = "\u0645\u0644\u0641 \u0639\u0631\u0628\u064a 2026"

const files = withResource(() => openFilesBrowser({}))
afterEach(() => files.clear())

it("the time at which a file was modified is shown in every order, and in its preview", async () => {
  await files.add("tides.txt", "high water")
  await files.add("unknown.txt")
  const modifiedAt = Date.UTC(2024, 2, 3, 12)
  await files.sql`update files set modified_at = ${modifiedAt} where file_name = 'tides.txt'`
  const page = await files.open("/dashboard/files", { viewport: { width: 1440, height: 900 } })
  for (const sort of ["newest", "name", "largest"]) {
    await page.goto(`/dashboard/files?sort=${sort}`)
    const row = page.getByRole("listitem").filter({ has: link(page, "tides.txt") })
    await row.getByText("modified 3 Mar 2024").waitFor()
    const list = page.getByRole("list", { name: "Your files" })
    expect(await list.getByText("modified").count()).toBe(1)
  }
  await link(page, "tides.txt").click()
  await page.getByRole("dialog").getByText("modified 3 Mar 2024").waitFor()
})

it("names and titles in Arabic are written from right to left wherever they stand", async () => {
  await files.add(`${ARABIC}.txt`, "…")
  const thread = await files.ada("/api/chat/threads", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ title: ARABIC }),
  })
  expect(thread.status).toBe(201)
  const page = await files.open("/dashboard/files")
  const sidebar = page.getByRole("navigation").getByText(ARABIC, { exact: true })
  expect(await directionOf(sidebar)).toBe("rtl")
  await link(page, `${ARABIC}.txt`).click()
  expect(await directionOf(page.getByRole("dialog").getByRole("heading"))).toBe("rtl")
  await page.keyboard.press("Escape")
  await sidebar.click()
  const heading = page.getByRole("heading", { level: 1 })
  await heading.getByText(ARABIC).waitFor()
  expect(await directionOf(heading.getByText(ARABIC))).toBe("rtl")
  const field = page.getByRole("textbox", { name: "Your question" })
  await field.fill("\u0645\u0631\u062d\u0628\u0627")
  expect(await directionOf(field)).toBe("rtl")
})

it("the tab of a PDF has its name, and shows it", async () => {
  await files.add("Tide tables 2026.pdf", PDF)
  const page = await files.open("/dashboard/files")
  const [tab] = await Promise.all([
    page.context().waitForEvent("page"),
    page.evaluate(
      (address) => void window.open(address),
      await addressOf(link(page, "Tide tables 2026.pdf")),
    ),
  ])
  await tab.waitForLoadState()
  expect(await tab.title()).toBe("Tide tables 2026.pdf")
  const shown = await tab.locator("iframe").getAttribute("src")
  const answer = await files.ada(shown ?? "")
  expect(answer.headers.get("content-type")).toBe("application/pdf")
})

it("what is no PDF has no page of its own, and neither has somebody else's", async () => {
  await files.add("tides.txt", "high water")
  const [file] = await files.sql`select _id from files`
  const own = await files.ada(`/dashboard/files/${file?.["_id"]}/pdf`, { redirect: "manual" })
  expect(own.headers.get("location")).toBe(`/api/files/${file?.["_id"]}`)
  expect((await files.ada(`/dashboard/files/${crypto.randomUUID()}/pdf`)).status).toBe(404)
})

const PDF =
  "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n%%EOF"

async function addressOf(found: Locator) {
  return (await found.getAttribute("href")) ?? ""
}

function directionOf(element: Locator) {
  return element.first().evaluate((found) => getComputedStyle(found).direction)
}
