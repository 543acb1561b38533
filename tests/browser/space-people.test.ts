import type { BrowserContext, Page } from "playwright-core"
import { afterEach, beforeAll, describe, expect, it } from "vitest"
import type { SpaceSummary } from "#server/spaces/contract.ts"
import { inAll } from "../support/all.ts"
import { faultsInEveryLook } from "../support/axe.ts"
import { takenOver } from "../support/browser.ts"
import { choose } from "../support/files-browser.ts"
import { ada as adaLovelace, grace as graceHopper, type Person } from "../support/people.ts"
import { sparseFile } from "../support/sparse-file.ts"
import { withBrowser } from "../support/with-browser.ts"
import { withTideline } from "../support/with-tideline.ts"
import { openPage } from "../support/open-page.ts"
import { addEditor, converse as converseIn, createSpace } from "../support/space-talk.ts"

let space: SpaceSummary
const { app, sql, ada, grace, grant } = withTideline({
  settings: { SPACES: "on", SIGNUP: "open", CHAT_RATE_LIMIT: "1000" },
  people: {
    ada: adaLovelace,
    grace: graceHopper,
    grant: { name: "Grant Allen", email: "grant@example.org" },
  },
  onboarded: true,
})
const browser = withBrowser()

beforeAll(async () => {
  space = await createSpace(ada)
  for (const person of [grace, grant]) await addEditor(sql, space._id, person)
})
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
})

const open = (person: Person, path: string, within?: BrowserContext) =>
  openPage({ app, browser, person }, path, within && { within })
const converse = (text: string) => converseIn(ada, space._id, text)
const field = (page: Page) => page.getByRole("textbox", { name: "Your question" })
const readers = (page: Page) => page.getByRole("list", { name: "Also reading" })
const members = (page: Page) => page.getByRole("listbox", { name: "Members to mention" })

describe("a mention", () => {
  it("is chosen with the keyboard, marked in the message, and counted for the other person until they open it", async () => {
    const threadId = await converse("Hello")
    const reader = await open(grace, "/dashboard")
    const author = await open(ada, `/s/engines/chat/${threadId}`)
    await field(author).pressSequentially("Is it high water, @gra")
    await members(author).getByRole("option", { name: "Grace Hopper" }).waitFor()
    expect(await optionsOf(author)).toEqual(["Grace Hopper", "Grant Allen"])
    const chosen = await field(author).getAttribute("aria-activedescendant")
    await members(author).locator(`[id="${chosen}"][aria-selected=true]`, { hasText: "Grace" }).waitFor()
    await field(author).press("ArrowDown")
    await members(author).locator("[aria-selected=true]", { hasText: "Grant Allen" }).waitFor()
    await field(author).press("ArrowDown")
    await field(author).press("Enter")
    await members(author).waitFor({ state: "detached" })
    expect(await field(author).inputValue()).toBe("Is it high water, @Grace Hopper ")
    await field(author).pressSequentially("?")
    await field(author).press("Enter")
    await author.getByRole("article", { name: "You" }).getByText("@Grace Hopper", { exact: true }).waitFor()
    expect(await author.getByRole("article", { name: "You" }).locator("mark").allInnerTexts()).toEqual([
      "@Grace Hopper",
    ])

    await reader.getByRole("link", { name: "Notifications, 1 unread" }).click()
    await reader.getByRole("heading", { name: "Notifications" }).waitFor()
    await reader.getByRole("link", { name: /^Unread: Ada Lovelace in Engines/ }).click()
    await reader.waitForURL(/\/s\/engines\/chat\/[0-9a-f-]{36}#message-/)
    await reader.getByRole("link", { name: "Notifications", exact: true }).waitFor()
    await reader.getByRole("article", { name: "Ada Lovelace" }).locator("mark").waitFor()
  })

  it("is chosen while a sent message is edited, too, where Escape closes the list before the editor", async () => {
    const page = await open(ada, `/s/engines/chat/${await converse("Hello")}`)
    const editor = page.getByRole("textbox", { name: "Your edited message" })
    await page.getByRole("button", { name: "Stop generating" }).waitFor({ state: "detached" })
    await page.getByRole("button", { name: "Edit message" }).click()
    await editor.pressSequentially(", @gra")
    await members(page).getByRole("option", { name: "Grace Hopper" }).waitFor()
    await page.keyboard.press("Escape")
    await members(page).waitFor({ state: "detached" })
    await editor.fill("Hello, ")
    await editor.pressSequentially("@gra")
    await members(page).waitFor()
    expect(await faultsInEveryLook(page)).toEqual([])
    await editor.press("Enter")
    expect(await editor.inputValue()).toBe("Hello, @Grace Hopper ")
    await editor.press("Enter")
    await page.getByRole("article", { name: "You" }).locator("mark", { hasText: "@Grace Hopper" }).waitFor()
  })

  it("is a first name, marked while it is typed, and a name that is nobody's is said", async () => {
    const page = await open(ada, `/s/engines/chat/${await converse("Hello")}`)
    const marks = page.locator("form mark")
    await field(page).fill("@grace, did @Bob send `@Override` to bob@example.org?")
    await page.getByText("Nobody called @Bob is in Engines.").waitFor()
    await marks.first().waitFor({ state: "attached" })
    expect(await marks.allInnerTexts()).toEqual(["@grace"])
    expect(await faultsInEveryLook(page)).toEqual([])
    await page.getByRole("button", { name: "Send" }).click()
    const sent = page.getByRole("article", { name: "You" }).last()
    await sent.locator("mark", { hasText: "@grace" }).waitFor()
    expect(await sent.locator("mark").count()).toBe(1)
    const reader = await open(grace, "/dashboard/notifications")
    await reader.getByText("@grace, did @Bob send").waitFor()
  })

  inAll("is chosen by touch, and its list closes with Escape and stays closed", async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true })
    const page = await open(ada, "/s/engines/chat", context)
    await field(page).tap()
    await page.keyboard.type("@gran")
    await members(page).getByRole("option", { name: "Grant Allen" }).tap()
    expect(await field(page).inputValue()).toBe("@Grant Allen ")
    await page.keyboard.type("and @g")
    await members(page).waitFor()
    await page.keyboard.press("Escape")
    await members(page).waitFor({ state: "detached" })
    await page.keyboard.type("r")
    expect(await members(page).count()).toBe(0)
    expect(await field(page).inputValue()).toBe("@Grant Allen and @gr")
  })

  inAll("is offered to nobody where nobody else is", async () => {
    const page = await open(ada, "/dashboard/chat")
    await field(page).pressSequentially("@g")
    await field(page).press("Enter")
    await page.getByRole("article", { name: "You" }).getByText("@g").waitFor()
  })
})

describe("people in one conversation of a space", () => {
  it("see who else reads it and who is writing, until they stop or close the page", async () => {
    const threadId = await converse("Hello")
    const one = await open(ada, `/s/engines/chat/${threadId}`)
    const other = await open(grace, `/s/engines/chat/${threadId}`)
    await readers(one).getByText("Grace Hopper").waitFor()
    await readers(other).getByText("Ada Lovelace").waitFor()
    expect(await readers(one).getByRole("listitem").count()).toBe(1)
    await field(other).pressSequentially("Hm")
    await one.getByText("Grace Hopper is writing…").waitFor()
    expect(await other.getByText("is writing…").count()).toBe(0)
    await field(other).fill("")
    await one.getByText("Grace Hopper is writing…").waitFor({ state: "detached" })
    await other.close()
    await readers(one).waitFor({ state: "detached" })
  })

  it("no longer see somebody who is removed, who no longer sees them", async () => {
    const threadId = await converse("Hello")
    const one = await open(ada, `/s/engines/chat/${threadId}`)
    const other = await open(grace, `/s/engines/chat/${threadId}`)
    await readers(one).getByText("Grace Hopper").waitFor()
    await readers(other).getByText("Ada Lovelace").waitFor()
    const [user] = await sql`select _id from users where email = ${grace.email}`
    await ada(`/api/spaces/${space._id}/members/${user?.["_id"]}`, { method: "DELETE" })
    await readers(one).waitFor({ state: "detached" })
    await other.getByRole("heading", { name: "You no longer have access to Engines" }).waitFor()
    await addEditor(sql, space._id, grace)
  })

  inAll("see nobody elsewhere, and are seen by nobody while they read something else", async () => {
    const threadId = await converse("Hello")
    const elsewhere = await converse("Hello too")
    const one = await open(ada, `/s/engines/chat/${threadId}`)
    const other = await open(grace, `/s/engines/chat/${threadId}`)
    await readers(one).getByText("Grace Hopper").waitFor()
    await other.getByRole("navigation", { name: "Conversations" }).locator(`[href$="${elsewhere}"]`).click()
    await readers(one).waitFor({ state: "detached" })
    await other.goBack()
    await readers(one).getByText("Grace Hopper").waitFor()
  })
})

describe("people who look at the files of a space", () => {
  it("see what another member uploads and how far it is, until it is cancelled, stored, or their page is closed", async () => {
    const reader = await open(grace, "/s/engines/files")
    const author = await open(ada, "/s/engines/files")
    const uploads = reader.getByRole("region", { name: "Uploads of others" })
    const network = await author.context().newCDPSession(author)
    const limit = (uploadThroughput: number) =>
      network.send("Network.emulateNetworkConditions", {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput,
      })
    const send = (name: string) => choose(author, sparseFile(name, 20_000_000))
    await limit(1_000_000)
    await send("ebb.mov")
    await uploads.getByText("ebb.mov").waitFor()
    await uploads.getByText(/^Ada Lovelace is uploading, \d+% of 20 MB$/).waitFor()
    expect(await author.getByRole("region", { name: "Uploads of others" }).count()).toBe(0)
    // In another order, the newest files are not on the page.
    await reader.goto(`${app.origin}/s/engines/files?sort=name`)
    await uploads.getByText("ebb.mov").waitFor()
    await author.getByRole("button", { name: "Cancel ebb.mov" }).click()
    await uploads.waitFor({ state: "detached" })
    await send("flood.mov")
    await uploads.getByText("flood.mov").waitFor()
    await author.close()
    await uploads.waitFor({ state: "detached" })
  })
})

describe("the page of notifications", () => {
  it("marks all as read, in every window at once", async () => {
    await converse("@Grace Hopper, one")
    await converse("@Grace Hopper, two")
    const page = await open(grace, "/dashboard/notifications")
    const other = await open(grace, "/dashboard")
    await other.getByRole("link", { name: "Notifications, 2 unread" }).waitFor()
    await page.getByRole("button", { name: "Mark all as read" }).click()
    await other.getByRole("link", { name: "Notifications", exact: true }).waitFor()
    await page.getByRole("button", { name: "Mark all as read" }).waitFor({ state: "detached" })
  })

  inAll("stays empty for somebody who has switched it off", async () => {
    const page = await open(grace, "/dashboard/account#notifications")
    await page.getByRole("checkbox", { name: "In Tideline" }).uncheck()
    const section = page.getByRole("region", { name: "Mentions" })
    await section.getByRole("button", { name: "Save" }).click()
    await page.getByText("Notifications saved.").waitFor()
    await page.reload()
    await takenOver(page)
    expect(await page.getByRole("checkbox", { name: "In Tideline" }).isChecked()).toBe(false)
    expect(await page.getByRole("checkbox", { name: "By email" }).isChecked()).toBe(true)
    await converse("@Grace Hopper, quietly")
    const { unread } = (await (await grace("/api/notifications")).json()) as { unread: number }
    expect(unread).toBe(0)
    await page.getByRole("checkbox", { name: "In Tideline" }).check()
    await section.getByRole("button", { name: "Save" }).click()
    await page.getByText("Notifications saved.").waitFor()
  })

  inAll("and the list of members have no accessibility violations in any look", async () => {
    await converse("@Grace Hopper, look")
    const page = await open(grace, "/dashboard/notifications")
    await page
      .getByRole("link", { name: /^Unread/ })
      .first()
      .waitFor()
    expect(await faultsInEveryLook(page)).toEqual([])
    await page.goto(`${app.origin}/s/engines/chat`)
    await takenOver(page)
    await field(page).pressSequentially("@")
    await members(page).waitFor()
    expect(await faultsInEveryLook(page)).toEqual([])
  })
})

/** The names in the list, as they are offered. */
async function optionsOf(page: Page): Promise<string[]> {
  const options = await members(page).getByRole("option").locator("span:not([aria-hidden])").allInnerTexts()
  return options.filter((text) => !text.includes("@"))
}
