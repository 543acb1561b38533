import { readFile } from "node:fs/promises"
import type { BrowserContextOptions } from "playwright-core"
import { afterEach, beforeAll, describe, expect, it } from "vitest"
import type { ThreadShareSummary } from "#server/chat/contract.ts"
import type { FileSummary, ShareSummary } from "#server/files/contract.ts"
import type { NewLink } from "#server/links/contract.ts"
import { inAll } from "../support/all.ts"
import { post } from "../support/api.ts"
import { faultsInEveryLook } from "../support/axe.ts"
import { giveCookies, takenOver } from "../support/browser.ts"
import { ada as adaLovelace } from "../support/people.ts"
import { withBrowser } from "../support/with-browser.ts"
import { withTideline } from "../support/with-tideline.ts"

const NAME = "Tide tables of the whole year, with remarks on currents and winds ".repeat(3).trim() + ".csv"

let file: FileSummary
const { app, sql, ada } = withTideline({ people: { ada: adaLovelace } })
const browser = withBrowser()

beforeAll(async () => {
  const answer = await ada(`/api/files?name=${encodeURIComponent(NAME)}`, {
    method: "POST",
    body: "noon,high",
  })
  const { files } = (await answer.json()) as { files: FileSummary[] }
  if (!files[0]) throw new Error("Nothing was stored.")
  await sql`update users set onboarding_completed = true`
  file = files[0]
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

  inAll(
    "has no accessibility violations in light and dark colours and fits into narrow and wide windows",
    async () => {
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
    },
  )
})

describe("the page of a shared conversation", () => {
  inAll(
    "is shared from its menu, grows while a visitor reads it, and is gone once the link is revoked",
    async () => {
      const threadId = await converse()
      const owner = await visit({ viewport: { width: 1440, height: 900 } })
      await giveCookies(owner.context(), ada, app)
      await owner.goto(`${app.origin}/dashboard/chat/${threadId}`)
      await takenOver(owner)
      await owner.getByRole("button", { name: "More actions for Tides" }).first().click()
      await owner.getByRole("menuitem", { name: "Share" }).click()
      await owner.getByRole("button", { name: "Create link" }).click()
      const url = await owner.getByLabel("Link", { exact: true }).inputValue()

      const visitor = await visit({ viewport: { width: 390, height: 844 } })
      await visitor.goto(url)
      await visitor.getByText("· Live").waitFor()
      const answer = visitor.getByRole("article", { name: "Reply" })
      expect(await answer.locator("strong").innerText()).toBe("noon")
      await sql`
      insert into chat_messages (user_id, thread_id, role, content)
      select user_id, _id, 'user', 'And low water?' from chat_threads where _id = ${threadId}`
      await visitor.getByText("And low water?").waitFor()

      await owner.getByRole("button", { name: /Revoke the link/ }).click()
      await visitor.getByRole("heading", { name: "This link doesn't work" }).waitFor()
    },
  )

  it("is read without any script, and has no accessibility violations in any look", async () => {
    const threadId = await converse()
    const open = await shareConversation(threadId, { shows: "copy", expiresAt: Date.now() + 86_400_000 })
    const locked = await shareConversation(threadId, { password: "open sesame" })
    const reader = await visit({ javaScriptEnabled: false })
    await reader.goto(locked)
    await reader.getByLabel("Password").fill("open sesame")
    await reader.getByRole("button", { name: "Show the conversation" }).click()
    await reader.getByText("When is high water?").waitFor()

    const page = await visit({})
    for (const address of [open, locked]) {
      await page.goto(address)
      expect(await faultsInEveryLook(page), address).toEqual([])
    }
  })
})

/** A conversation of Ada's with a message and a reply. */
async function converse(): Promise<string> {
  const [thread] = await sql`
    insert into chat_threads (user_id, title, last_message_at)
    select _id, 'Tides', ${Date.now()} from users where email = ${adaLovelace.email} returning _id, user_id`
  const { _id: threadId, user_id: userId } = thread as { _id: string; user_id: string }
  const reply =
    "At **noon**.\n\n```js\nconst tide = 4.2\n```\n\n| high | low |\n| --- | --- |\n| 12:00 | 18:10 |"
  for (const [role, content] of [
    ["user", "When is high water?"],
    ["assistant", reply],
  ] as const)
    await sql`insert into chat_messages (user_id, thread_id, role, content) values (${userId}, ${threadId}, ${role}, ${content})`
  return threadId
}

async function shareConversation(threadId: string, limits: object): Promise<string> {
  const answer = await ada(`/api/chat/threads/${threadId}/shares`, post(limits))
  return ((await answer.json()) as NewLink<ThreadShareSummary>).url
}

async function share(limits: object): Promise<NewLink<ShareSummary>> {
  const answer = await ada(`/api/files/${file._id}/shares`, post(limits))
  return (await answer.json()) as NewLink<ShareSummary>
}

async function visit(options: BrowserContextOptions) {
  const context = await browser.newContext(options)
  return context.newPage()
}
