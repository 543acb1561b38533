import type { Page } from "playwright-core"
import { afterEach, beforeAll, describe, expect, it } from "vitest"
import { chooseFor } from "../support/files-browser.ts"
import type { NewInvitation, SpaceSummary } from "#server/spaces/contract.ts"
import { inAll, sample } from "../support/all.ts"
import { post } from "../support/api.ts"
import { faultsInEveryLook } from "../support/axe.ts"
import { arrivedAt, takenOver } from "../support/browser.ts"
import { ada as adaLovelace, grace as graceHopper, type Person } from "../support/people.ts"
import { withBrowser } from "../support/with-browser.ts"
import { withTideline } from "../support/with-tideline.ts"
import { openPage } from "../support/open-page.ts"
import { converse as converseIn } from "../support/space-talk.ts"

let space: SpaceSummary
const { app, sql, ada, grace } = withTideline({
  settings: { SPACES: "on", SIGNUP: "open", CHAT_RATE_LIMIT: "1000" },
  people: { ada: adaLovelace, grace: graceHopper },
  onboarded: true,
})
const browser = withBrowser()

beforeAll(async () => {
  ;({ space } = await read<{ space: SpaceSummary }>(ada("/api/spaces", post({ name: "Engines" }))))
  await join(grace, "editor")
})
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
})

const open = (person: Person, path: string) => openPage({ app, browser, person }, path)
const converse = (text: string) => converseIn(ada, space._id, text)

describe("people in one conversation of a space", () => {
  it("see it begin and the reply grow, and who wrote what, until one is removed in the middle", async () => {
    const owner = await open(ada, "/s/engines/chat")
    const editor = await open(grace, "/s/engines/chat")
    await ask(owner, "/slow 60")
    await owner.waitForURL(/\/s\/engines\/chat\/[0-9a-f-]{36}$/)
    await editor.getByRole("navigation", { name: "Conversations" }).getByRole("link").first().click()
    const growing = editor.getByRole("article", { name: "Answer" })
    await growing.getByText("One word a second.").waitFor()
    await editor.getByRole("article", { name: "Ada Lovelace" }).getByText("/slow 60").waitFor()
    await owner.getByRole("article", { name: "You" }).getByText("/slow 60").waitFor()
    const before = (await growing.innerText()).length
    await expect.poll(async () => (await growing.innerText()).length).toBeGreaterThan(before)

    await owner.goto(`${app.origin}/s/engines/members`)
    await takenOver(owner)
    await owner.getByLabel("More about Grace Hopper").click()
    await owner.getByRole("button", { name: "Remove Grace Hopper" }).click()
    await editor.getByRole("heading", { name: "You no longer have access to Engines" }).waitFor()
    expect(await editor.getByText("One word a second.").count()).toBe(0)
    await join(grace, "editor")
    await stopReplies()
  })

  it("stand in a line that everybody sees, can leave it, and are replied to in its order", async () => {
    const threadId = await converse("/slow 60")
    const editor = await open(grace, `/s/engines/chat/${threadId}`)
    const owner = await open(ada, `/s/engines/chat/${threadId}`)
    const field = editor.getByRole("textbox", { name: "Your question" })
    const sendAgain = async () => {
      await expect.poll(() => field.inputValue()).toBe("/slow 60 And mine?")
      await field.press("Enter")
    }
    await editor.getByText("One word a second.").waitFor()
    await ask(editor, "/slow 60 And mine?")
    await line(editor).getByText("You're next: your message is sent when the reply has ended.").waitFor()
    await line(owner).getByText("Grace Hopper is next.").waitFor()
    await ask(owner, "And then mine?")
    await line(editor).getByText("Ada Lovelace is number 2 in line.").waitFor()
    await line(owner).getByText("You're number 2 in line.").waitFor()
    expect(await faultsInEveryLook(owner)).toEqual([])

    await line(editor).getByRole("button", { name: "Take back" }).click()
    await line(owner).getByText("You're next").waitFor()
    await sendAgain()
    await line(owner).getByText("Grace Hopper is number 2 in line.").waitFor()
    await line(owner).getByRole("button", { name: "Withdraw the message of Grace Hopper" }).click()
    await line(editor).getByText("Another member withdrew your message.").waitFor()
    await line(editor).getByRole("button", { name: "Take back" }).click()
    await sendAgain()
    await line(owner).getByText("Grace Hopper is number 2 in line.").waitFor()

    await owner.close()
    await ada(`/api/chat/threads/${threadId}/stop`, { method: "POST" })
    await editor.getByRole("article", { name: "Ada Lovelace" }).getByText("And then mine?").waitFor()
    await editor.getByRole("article", { name: "You" }).getByText("/slow 60 And mine?").waitFor()
    await line(editor).waitFor({ state: "detached" })
    const said = await editor.getByRole("log").innerText()
    expect(said.indexOf("And then mine?")).toBeLessThan(said.indexOf("/slow 60 And mine?"))
    await stopReplies()
  })

  it("find no composer as readers, and become editors while the page is open", async () => {
    const threadId = await converse("Hello")
    await setRole("reader")
    const page = await open(grace, `/s/engines/chat/${threadId}`)
    await page.getByText("You can read in Engines, but not write.").waitFor()
    expect(await page.getByRole("textbox", { name: "Your question" }).count()).toBe(0)
    expect(await page.getByRole("button", { name: /Regenerate|Edit message/ }).count()).toBe(0)
    await setRole("editor")
    await page.getByRole("textbox", { name: "Your question" }).waitFor()
  })
})

describe("an invitation by link", () => {
  it("leads somebody who is signed out through sign-up and onboarding into the space", async () => {
    const threadId = await converse("Hello")
    const page = await (await browser.newContext({ viewport: { width: 390, height: 844 } })).newPage()
    await page.goto(await invite("reader"))
    await page.getByRole("link", { name: "Sign up" }).click()
    await page.getByLabel("Name").fill("Alan Turing")
    await page.getByLabel("Email address").fill("alan@example.org")
    await page.getByLabel("Password", { exact: true }).fill("an engine of brass and cards")
    await page.getByRole("button", { name: "Sign up" }).click()
    await page.getByRole("button", { name: "Join Engines" }).click()
    await page.getByRole("button", { name: "Get started" }).click()
    await page.getByRole("button", { name: "Go to the dashboard" }).click()
    await page.waitForURL(/\/s\/engines$/)
    await takenOver(page)
    await page.locator(`main [href="/s/engines/chat/${threadId}"]`).click()
    await page.getByRole("article", { name: "Ada Lovelace" }).getByText("Hello").waitFor()
    await page.getByText("You can read in Engines, but not write.").waitFor()
  })
})

describe("the files of a space", () => {
  it("show who added each, and what one person adds, deletes and restores to everybody", async () => {
    const owner = await open(ada, "/s/engines/files")
    const editor = await open(grace, "/s/engines/files")
    await upload(editor, "tides.txt")
    const row = owner.getByRole("listitem").filter({ hasText: "tides.txt" })
    await row.getByText("Grace Hopper").waitFor()
    await row.hover()
    await chooseFor(owner, "tides.txt", "Delete")
    await editor.getByRole("link", { name: "tides.txt", exact: true }).waitFor({ state: "detached" })
    await editor.getByRole("link", { name: "Trash" }).click()
    await editor.getByRole("button", { name: "Restore tides.txt" }).click()
    await row.getByRole("link", { name: "tides.txt", exact: true }).waitFor()
    const { files } = await read<{ files: unknown[] }>(grace("/api/files"))
    expect(files).toEqual([])
  })

  it.each(["?sort=name", "?type=text", "?q=ebb"])(
    "are live in the list %s for those who do not own the space",
    async (search) => {
      const editor = await open(grace, `/s/engines/files${search}`)
      const owner = await open(ada, `/s/engines/files${search}`)
      const name = `ebb ${search.slice(1, 5)}.txt`
      await grace(uploadPath(name), { method: "POST", body: "low water 12:31" })
      await editor.getByRole("link", { name, exact: true }).waitFor()
      await owner.getByRole("link", { name, exact: true }).waitFor()
      await owner.getByRole("link", { name, exact: true }).focus()
      await owner.keyboard.press("Delete")
      await owner.getByRole("link", { name, exact: true }).waitFor({ state: "detached" })
      await editor.getByRole("link", { name, exact: true }).waitFor({ state: "detached" })
    },
  )

  it("are live in the trash for those who do not own the space", async () => {
    const editor = await open(grace, "/s/engines/files/trash")
    const { files } = await read<{ files: { _id: string }[] }>(
      ada(uploadPath("slack.txt"), { method: "POST", body: "no stream" }),
    )
    await ada(`/api/files/${files[0]?._id}`, { method: "DELETE" })
    await editor.getByRole("button", { name: "Restore slack.txt" }).waitFor()
    await ada(`/api/files/${files[0]?._id}/restore`, { method: "POST" })
    await editor.getByRole("button", { name: "Restore slack.txt" }).waitFor({ state: "detached" })
  })

  it("can be opened and not changed by a reader", async () => {
    await setRole("reader")
    await ada(`/api/files?name=winds.txt&spaceId=${space._id}`, { method: "POST", body: "from the west" })
    const page = await open(grace, "/s/engines/files")
    await page.getByRole("link", { name: "Download winds.txt" }).waitFor()
    const forbidden = /^(Upload|Share|Rename|Move|Delete)/
    expect(await page.getByRole("main").getByRole("button", { name: forbidden }).count()).toBe(0)
    await page.getByRole("link", { name: "winds.txt", exact: true }).focus()
    await page.keyboard.press("Delete")
    await page.keyboard.press("F2")
    expect(await page.getByRole("main").getByRole("textbox", { name: "Name" }).count()).toBe(0)
    expect(await page.getByRole("link", { name: "winds.txt", exact: true }).count()).toBe(1)
    await setRole("editor")
    await page.getByRole("button", { name: "Upload", exact: true }).waitFor()
  })
})

describe("moving between what is personal and a space", () => {
  it("takes several files along for everybody, from the selection, by keyboard alone", async () => {
    for (const name of ["one.txt", "two.txt"])
      await ada(`/api/files?name=${name}`, { method: "POST", body: name })
    const other = await open(grace, "/s/engines/files")
    const page = await open(ada, "/dashboard/files")
    for (const name of ["one.txt", "two.txt"]) {
      await page.getByRole("link", { name, exact: true }).focus()
      await page.keyboard.press(" ")
    }
    await page.getByRole("button", { name: "Move or copy" }).press("Enter")
    await page.getByRole("menuitem", { name: "Move to…" }).waitFor()
    await page.keyboard.press("Enter")
    const dialog = page.getByRole("dialog", { name: "Move 2 files" })
    await dialog.getByRole("radio", { name: "Engines" }).press("Enter")
    await page.getByText("2 files are now in Engines").waitFor()
    for (const name of ["one.txt", "two.txt"]) {
      await other.getByRole("link", { name, exact: true }).waitFor()
      await page.getByRole("link", { name, exact: true }).waitFor({ state: "detached" })
    }
    await page.getByRole("button", { name: "Undo" }).click()
    for (const name of ["one.txt", "two.txt"]) {
      await page.getByRole("link", { name, exact: true }).waitFor()
      await other.getByRole("link", { name, exact: true }).waitFor({ state: "detached" })
    }
  })

  inAll("opens a moved conversation where it is now, and closes it for those it was taken from", async () => {
    const threadId = await converse("Hello")
    const other = await open(grace, `/s/engines/chat/${threadId}`)
    const page = await open(ada, `/s/engines/chat/${threadId}`)
    await stopReplies()
    await choose(page, "Move to…")
    await page.getByRole("dialog").getByRole("button", { name: "Move" }).click()
    await page.waitForURL(`${app.origin}/dashboard/chat/${threadId}`)
    await page.getByRole("article", { name: "You" }).getByText("Hello").waitFor()
    await other.getByText("Conversation not found").waitFor()
  })

  inAll(
    "offers a reader to copy, and says why a conversation of several cannot become one's own",
    async () => {
      const threadId = await converse("Hello")
      await stopReplies()
      const page = await open(grace, `/s/engines/chat/${threadId}`)
      await choose(page, "Move to…")
      await page.getByRole("dialog").getByRole("button", { name: "Move" }).click()
      await page.getByRole("dialog").getByText("Others have written in this conversation").waitFor()
      await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click()
      await setRole("reader")
      await page.getByText("You can read in Engines, but not write.").waitFor()
      await choose(page, "Copy to…")
      await page.getByRole("dialog").getByRole("button", { name: "Copy", exact: true }).click()
      await page.getByText("was copied to Personal").waitFor()
      await setRole("editor")
      const { threads } = await read<{ threads: { title: string }[] }>(grace("/api/chat/threads"))
      expect(threads).toHaveLength(1)
    },
  )
})

describe("the switcher", () => {
  it("leads by keyboard from what is personal into a space and back", async () => {
    const page = await open(ada, "/dashboard")
    await page.getByRole("button", { name: "Space: Personal" }).press("Enter")
    const spaces = page.getByRole("navigation", { name: "Spaces" })
    await spaces.getByRole("link", { name: "Engines" }).press("Enter")
    await arrivedAt(page, /\/s\/engines$/)
    await page.getByRole("navigation").locator('[href="/s/engines/files"]').first().press("Enter")
    await arrivedAt(page, /\/s\/engines\/files$/)
    await page.getByRole("button", { name: "Space: Engines" }).press("Enter")
    await spaces.getByRole("link", { name: "Personal" }).press("Enter")
    await page.waitForURL(/\/dashboard$/)
  })
})

describe("a role", () => {
  it("is saved when it is chosen, without a button", async () => {
    const page = await open(ada, "/s/engines/members")
    const role = page.getByRole("combobox", { name: "Role of Grace Hopper" })
    expect(await page.getByRole("button", { name: "Change Grace Hopper" }).count()).toBe(0)
    await role.selectOption("reader")
    await page.getByText("Role saved.").waitFor()
    const reader = await open(grace, "/s/engines/files")
    await reader.getByText("You can open and download the files of Engines.").waitFor()
    await role.selectOption("editor")
    await reader.getByRole("button", { name: "Upload" }).first().waitFor()
  })

  it("is the last one that was chosen, however soon after another", async () => {
    await setRole("reader")
    const page = await open(ada, "/s/engines/members")
    await page
      .getByRole("combobox", { name: "Role of Grace Hopper" })
      .evaluate((select: HTMLSelectElement) => {
        for (const value of ["editor", "reader"]) {
          select.value = value
          select.dispatchEvent(new Event("change", { bubbles: true }))
        }
      })
    await page.getByText("Role saved.").first().waitFor()
    await expect.poll(roleOfGrace).toBe("reader")
    await setRole("editor")
  })
})

describe("what a space stores", () => {
  it("is shown to all its members, and follows what others add", async () => {
    const page = await open(grace, "/s/engines/files")
    const before = await page.getByText(/ in this space$/).innerText()
    const address = `/api/files?name=stored.txt&spaceId=${space._id}`
    await ada(address, { method: "POST", body: "x".repeat(5000) })
    await expect.poll(() => page.getByText(/ in this space$/).innerText()).not.toBe(before)
    expect(await page.getByText("of your").count()).toBe(0)
  })
})

describe("the pages of a space", () => {
  it("have no accessibility violations in any look and fit into narrow and wide windows", async () => {
    const threadId = await converse("Hello")
    await ada(`/api/files?name=axles.txt&spaceId=${space._id}`, { method: "POST", body: "of steel" })
    const page = await open(ada, `/s/engines/chat/${threadId}`)
    for (const path of sample(["", "/files", "/members", "/settings", "/files/trash"], 2)) {
      if (path !== "") {
        await page.goto(`${app.origin}/s/engines${path}`)
        await takenOver(page)
      }
      expect(await faultsInEveryLook(page), path).toEqual([])
    }
  })
})

/** In the menu of the open conversation. */
async function choose(page: Page, act: string) {
  await page
    .locator("header")
    .getByRole("button", { name: /^More actions for/ })
    .click()
  await page.getByRole("menuitem", { name: act }).click()
}

function line(page: Page) {
  return page.getByRole("list", { name: "Waiting messages" })
}

async function ask(page: Page, text: string) {
  const field = page.getByRole("textbox", { name: "Your question" })
  await field.fill(text)
  await field.press("Enter")
}

async function stopReplies() {
  const running = await sql`select distinct thread_id from chat_turns where status = 'running'`
  for (const { thread_id: threadId } of running)
    await ada(`/api/chat/threads/${threadId}/stop`, { method: "POST" })
}

function uploadPath(name: string): string {
  return `/api/files?name=${encodeURIComponent(name)}&spaceId=${space._id}`
}

async function upload(page: Page, name: string) {
  const [chooser] = await Promise.all([
    page.waitForEvent("filechooser"),
    page.getByRole("main").getByRole("button", { name: "Upload", exact: true }).click(),
  ])
  await chooser.setFiles({ name, mimeType: "text/plain", buffer: Buffer.from("high water 06:12") })
}

async function invite(role: "editor" | "reader"): Promise<string> {
  const made = await read<NewInvitation>(ada(`/api/spaces/${space._id}/invitations`, post({ role })))
  return made.url
}

async function join(person: Person, role: "editor" | "reader") {
  const token = (await invite(role)).split("/").at(-1)
  await read(person("/api/spaces/join", post({ token })))
}

async function setRole(role: "editor" | "reader") {
  const [user] = await sql`select _id from users where email = ${grace.email}`
  const path = `/api/spaces/${space._id}/members/${user?.["_id"]}`
  const answer = await ada(path, { ...post({ role }), method: "PATCH" })
  expect(answer.status, await answer.text()).toBeLessThan(300)
}

async function roleOfGrace(): Promise<unknown> {
  const [member] = await sql`
    select role from space_members join users on users._id = space_members.user_id
    where users.email = ${grace.email} and space_members.space_id = ${space._id}`
  return member?.["role"]
}

async function read<Answer>(asked: Promise<Response>): Promise<Answer> {
  const response = await asked
  const text = await response.text()
  expect(response.status, text).toBeLessThan(300)
  return JSON.parse(text) as Answer
}
