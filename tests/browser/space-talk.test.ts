import type { Page } from "playwright-core"
import { afterEach, beforeAll, describe, expect, it } from "vitest"
import type { SpaceSummary } from "#server/spaces/contract.ts"
import { faultsInEveryLook } from "../support/axe.ts"
import { takenOver } from "../support/browser.ts"
import { ada as adaLovelace, grace as graceHopper, type Person } from "../support/people.ts"
import { withBrowser } from "../support/with-browser.ts"
import { withTideline } from "../support/with-tideline.ts"
import { openPage } from "../support/open-page.ts"
import { addEditor, converse as converseIn, createSpace } from "../support/space-talk.ts"

let space: SpaceSummary
const { app, sql, ada, grace } = withTideline({
  settings: { SPACES: "on", CHAT_RATE_LIMIT: "1000" },
  people: { ada: adaLovelace, grace: graceHopper },
  onboarded: true,
})
const browser = withBrowser()

beforeAll(async () => {
  space = await createSpace(ada)
  await addEditor(sql, space._id, grace)
})
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
})

const open = (person: Person, threadId: string) =>
  openPage({ app, browser, person }, `/s/${space.slug}/chat/${threadId}`)

describe("people who talk to each other in a space", () => {
  it("see before sending who replies, ask nobody by a mention, and the assistant by a button", async () => {
    const threadId = await converse("Hello")
    const owner = await open(ada, threadId)
    const editor = await open(grace, threadId)
    await owner.getByText("The assistant will reply.").waitFor()
    await field(owner).fill("@grace how deep is it?")
    await owner.getByText("To Grace: the assistant won't reply.").waitFor()
    expect(await faultsInEveryLook(owner)).toEqual([])
    await field(owner).press("Enter")
    const note = editor.getByRole("article", { name: "Ada Lovelace" }).filter({ hasText: "how deep is it?" })
    await note.getByText("@grace").waitFor()
    await field(editor).fill("@Ada 40 metres, I think")
    await field(editor).press("Enter")
    await owner.getByRole("article", { name: "Grace Hopper" }).getByText("40 metres").waitFor()
    for (const page of [owner, editor]) await expect.poll(() => answers(page).count()).toBe(1)

    await note.hover()
    await note.getByRole("button", { name: "Ask the assistant about this message" }).dblclick()
    for (const page of [owner, editor])
      await answers(page).nth(1).getByText("Ada Lovelace: @grace how deep is it?").waitFor()
    const said = await owner.getByRole("log").innerText()
    expect(said.indexOf("40 metres")).toBeLessThan(said.indexOf("Ada Lovelace: @grace"))
    expect(await sql`select 1 from chat_turns where thread_id = ${threadId}`).toHaveLength(2)
  })

  it("change what they said to each other in its place", async () => {
    const threadId = await converse("@Grace how deep is it?")
    const owner = await open(ada, threadId)
    const editor = await open(grace, threadId)
    await field(editor).fill("@Ada 40 metres, I think")
    await field(editor).press("Enter")
    const others = owner.getByRole("article", { name: "Grace Hopper" })
    await others.getByText("40 metres").waitFor()
    expect(await others.getByRole("button", { name: "Edit message" }).count()).toBe(0)
    await field(owner).press("ArrowUp")
    const edited = owner.getByRole("textbox", { name: "Your edited message" })
    await edited.fill("@Grace how wide is it?")
    await owner.getByText("What it says now is kept as an earlier version.").waitFor()
    await edited.press("Enter")
    await editor.getByRole("article", { name: "Ada Lovelace" }).getByText("how wide is it?").waitFor()
    await others.getByText("40 metres").waitFor()
    await owner.getByRole("button", { name: "Earlier version" }).waitFor()
  })

  it("set a conversation to people only for everybody, and still ask the assistant by its name", async () => {
    const threadId = await converse("Hello")
    const owner = await open(ada, threadId)
    const editor = await open(grace, threadId)
    const list = owner.getByRole("navigation", { name: "Conversations" })
    await editor.locator("header").getByRole("button", { name: "More actions for Hello" }).click()
    await editor.getByRole("menuitem", { name: "Make it people only" }).click()
    await owner.getByText("For people only: the assistant replies if you write @Assistant.").waitFor()
    await list.getByRole("link", { name: "Hello People only" }).waitFor()
    const message = owner.getByRole("textbox", { name: "Your message" })
    await message.fill("Lunch?")
    await message.press("Enter")
    await editor.getByRole("article", { name: "Ada Lovelace" }).getByText("Lunch?").waitFor()
    await message.fill("@as")
    await message.press("End")
    await owner.getByRole("option", { name: "Assistant replies to your message" }).click()
    await message.pressSequentially("where?")
    await owner.getByText("The assistant will reply.").waitFor()
    await message.press("Enter")
    await answers(editor).nth(1).getByText("@Assistant where?").waitFor()
    expect(await answers(owner).count()).toBe(2)
  })

  it("see in the list what they have not read, until it is on one of their screens", async () => {
    const threadId = await converse("Boilers")
    const elsewhere = await converse("@Grace look at the boilers")
    const pages = [await open(grace, elsewhere), await open(grace, elsewhere)]
    const links = pages.map((page) =>
      page.getByRole("navigation", { name: "Conversations" }).getByRole("link", { name: /^Boilers/ }),
    )
    for (const link of links)
      await link.and(link.page().getByRole("link", { name: "Boilers 2 unread" })).waitFor()
    const owner = await open(ada, threadId)
    await field(owner).fill("@Grace are they hot?")
    await field(owner).press("Enter")
    for (const page of pages)
      await page.getByRole("link", { name: "Boilers You were mentioned, 3 unread" }).waitFor()
    expect(await faultsInEveryLook(pages[0]!)).toEqual([])

    await links[0]!.click()
    await pages[0]!.getByRole("article", { name: "Ada Lovelace" }).getByText("are they hot?").waitFor()
    for (const link of links) await expect.poll(() => link.innerText()).toBe("Boilers")
    await field(owner).fill("@Grace hello?")
    await field(owner).press("Enter")
    await pages[0]!.getByRole("article", { name: "Ada Lovelace" }).getByText("hello?").waitFor()
    for (const link of links) await expect.poll(() => link.innerText()).toBe("Boilers")
    const list = owner.getByRole("navigation", { name: "Conversations" })
    expect(await list.getByText("unread").count()).toBe(0)
  })
})

describe("the home of a space", () => {
  it("shows who else has a page of the space on the screen, as long as they do", async () => {
    const threadId = await converse("Hello")
    const owner = await open(ada, threadId)
    await owner.goto(`${app.origin}/s/${space.slug}`)
    await takenOver(owner)
    await owner.getByRole("link", { name: "2 members" }).waitFor()
    const editor = await open(grace, threadId)
    await owner.getByRole("link", { name: "2 members · Grace Hopper is here now" }).waitFor()
    expect(await faultsInEveryLook(owner)).toEqual([])
    await editor.goto(`${app.origin}/dashboard`)
    await owner.getByRole("link", { name: "2 members", exact: true }).waitFor()
  })
})

const field = (page: Page) => page.getByRole("textbox", { name: "Your question" })
const answers = (page: Page) => page.getByRole("article", { name: "Answer" })

/** Ada's message in a new conversation of the space, with its reply if there is one. */
async function converse(text: string): Promise<string> {
  const threadId = await converseIn(ada, space._id, text)
  await expect
    .poll(() => sql`select 1 from chat_turns where thread_id = ${threadId} and status = 'running'`)
    .toEqual([])
  return threadId
}
