import { readFileSync } from "node:fs"
import type { Page } from "playwright-core"
import { afterEach, expect, it, vi } from "vitest"
import type { FilePage } from "#server/files/contract.ts"
import { link, openFilesBrowser } from "../support/files-browser.ts"
import { readZip } from "../support/zip.ts"
import { withResource } from "../support/with-resource.ts"

// A browser, a server and a database share the machine with other tests.
vi.setConfig({ testTimeout: 90_000 })

const MANY = 2005

const files = withResource(() => openFilesBrowser({}))
afterEach(() => files.clear())

it("all that match are moved to the trash and restored together, beyond those that are loaded", async () => {
  await addMany()
  await files.add("wind.txt")
  const page = await files.open("/dashboard/files?q=tide")
  await selectAll(page)
  await bar(page).getByText("All 2,005 selected").waitFor()
  await files.add("tide of later.txt")
  await page.getByRole("checkbox", { name: "Select tide of later.txt", checked: false }).waitFor()
  await bar(page).getByText("All 2,005 selected").waitFor()
  await page.keyboard.press("ArrowDown")
  await bar(page).getByRole("button", { name: "Delete" }).click()
  await page.getByText("2,005 files are in the trash").waitFor()
  await link(page, "tide of later.txt").waitFor()
  expect(await countOf("tide")).toBe(1)
  expect(await countOf("wind")).toBe(1)
  await page.getByRole("button", { name: "Undo" }).click()
  await expect.poll(() => countOf("tide"), { timeout: 20_000 }).toBe(MANY + 1)
  await link(page, "tide 2005.txt").waitFor()
})

it("all but those that are unticked go into a space, and are downloaded as one zip", async () => {
  await addMany()
  const created = await files.ada("/api/spaces", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "Harbour" }),
  })
  expect(created.status).toBe(201)
  const page = await files.open("/dashboard/files")
  await selectAll(page)
  await page.getByRole("checkbox", { name: "Select tide 2004.txt" }).click()
  await bar(page).getByText("2,004 selected").waitFor()
  const saved = page.waitForEvent("download")
  await bar(page).getByRole("button", { name: "Download as zip" }).click()
  const names = readZip(readFileSync(await (await saved).path())).map(([name]) => name)
  expect(new Set(names).size).toBe(MANY - 1)
  expect(names).not.toContain("tide 2004.txt")

  await bar(page).getByRole("button", { name: "Move or copy" }).click()
  await page.getByRole("menuitem", { name: "Move to…" }).click()
  const dialog = page.getByRole("dialog", { name: "Move 2,004 files" })
  await dialog.getByRole("radio", { name: "Harbour" }).check()
  await dialog.getByRole("button", { name: "Move", exact: true }).click()
  await page.getByText("2,004 files are now in Harbour").waitFor()
  await expect.poll(() => countOf("")).toBe(1)
  await bar(page).waitFor({ state: "detached" })
})

it("a file that was unticked is left out, also when it is no longer among those that are loaded", async () => {
  await addMany()
  const page = await files.open("/dashboard/files")
  await selectAll(page)
  await page.getByRole("checkbox", { name: "Select tide 2004.txt" }).click()
  await bar(page).getByText("2,004 selected").waitFor()
  await page.getByRole("combobox", { name: "Order" }).selectOption("oldest")
  await link(page, "tide 1.txt").waitFor()
  await bar(page).getByText("2,004 selected").waitFor()
  await bar(page).getByRole("button", { name: "Delete" }).click()
  await page.getByText("2,004 files are in the trash").waitFor()
  await link(page, "tide 2004.txt").waitFor()
  expect(await countOf("")).toBe(1)
})

it("another search ends the selection of all", async () => {
  await addMany()
  const page = await files.open("/dashboard/files?q=tide")
  await selectAll(page)
  await page.getByRole("searchbox", { name: "Search files" }).fill("tide 1")
  await bar(page).waitFor({ state: "detached" })
})

it("everything in the trash is restored at once", async () => {
  await addMany()
  await files.ada("/api/files/trash", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ all: {} }),
  })
  const page = await files.open("/dashboard/files/trash")
  await page.getByRole("button", { name: "Restore everything" }).click()
  await page.getByText("2,005 files were restored").waitFor()
  await page.getByText("The trash is empty").waitFor()
  expect(await countOf("")).toBe(MANY)

  const plain = await files.open("/dashboard/files", { javaScriptEnabled: false })
  await plain.getByRole("button", { name: "Delete tide 2005.txt" }).click()
  await plain.goto("/dashboard/files/trash")
  await plain.getByRole("button", { name: "Restore everything" }).click()
  await plain.getByText("The trash is empty").waitFor()
  expect(await countOf("")).toBe(MANY)
})

/** By the keyboard: once for those that are loaded, and again for all that match. */
async function selectAll(page: Page) {
  await link(page, "tide 2005.txt").waitFor()
  await page.keyboard.press("ControlOrMeta+a")
  await bar(page).getByRole("button", { name: "Select all 2,005" }).waitFor()
  await page.keyboard.press("ControlOrMeta+a")
  await bar(page).getByText("All 2,005 selected").waitFor()
}

function bar(page: Page) {
  return page.getByRole("toolbar", { name: "Selected files" })
}

/** Copies of one file, with its bytes. */
async function addMany() {
  const { _id } = await files.add("tide 1.txt", "high water")
  await files.sql`
    insert into files (storage_id, user_id, file_name, mime_type, size)
    select storage_id, user_id, ${"tide "} || n || ${".txt"}, mime_type, size
    from files, generate_series(2, ${MANY}::int) as n where _id = ${_id} order by n`
  await files.sql`update file_usage set used = (select sum(size) from files)`
}

async function countOf(q: string) {
  const answer = await files.ada(`/api/files/count?q=${q}`)
  return ((await answer.json()) as { count: number } & Partial<FilePage>).count
}
