import type { Page } from "playwright-core"
import { afterEach, describe, expect } from "vitest"
import { inAll } from "../support/all.ts"
import { takenOver } from "../support/browser.ts"
import { openChatBrowser } from "../support/chat-browser.ts"
import { slowness } from "../support/longest-pass.ts"
import { withResource } from "../support/with-resource.ts"

const chat = withResource(openChatBrowser)
afterEach(async () => {
  expect(await chat.endPages()).toEqual([])
})

const READER = /\/blocks-/

describe("code that is slow to highlight", () => {
  inAll("keeps nobody waiting, and other code gets its colours", async () => {
    const say = ["markdown", "java"]
      .map((language) => `\`\`\`${language}\n${SLOW[language]}\n\`\`\``)
      .join("\n\n")
    const path = await chat.thread(0, { say: `${say}\n\n\`\`\`ts\nconst depth = 1\n\`\`\`` })
    const page = await chat.open("/dashboard/chat")
    const longest = await longestTask(page, async () => {
      await page.goto(new URL(path, page.url()).href)
      await page.locator("[role=log] pre .text-code-keyword", { hasText: "const" }).waitFor()
    })
    expect(longest).toBeLessThan(500 * slowness())
  })
})

/** Each takes the highlighter more than ten seconds. */
const SLOW: Record<string, string> = { markdown: "[a](".repeat(7000), java: "a".repeat(29_000) }

/** Milliseconds of processor time of the longest task of the page that is open in the end. */
async function longestTask(page: Page, act: () => Promise<unknown>): Promise<number> {
  const session = await page.context().newCDPSession(page)
  let longest = 0
  session.on("Tracing.dataCollected", ({ value }) => {
    // In microseconds; not every event has one.
    for (const event of value as { tdur?: unknown }[]) longest = Math.max(longest, Number(event.tdur ?? 0))
  })
  await session.send("Tracing.start", { traceConfig: { includedCategories: ["toplevel"] } })
  await act()
  const ended = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve))
  await session.send("Tracing.end")
  await ended
  return longest / 1000
}

describe("the Markdown renderer", () => {
  inAll("is not needed to hydrate replies, which stay as the server rendered them", async () => {
    const page = await chat.open(await chat.thread(0, { say: "**B4** and\n\n- one\n- two" }))
    await page.route(READER, (route) => route.abort())
    await page.reload()
    await takenOver(page)
    await page.locator("[role=log] strong", { hasText: "B4" }).waitFor()
    expect(await page.locator("[role=log] li").count()).toBe(2)
    await page.evaluate("new Promise(requestAnimationFrame)")
    expect(await page.getByRole("log").innerText()).not.toContain("**")
    chat.forgive(/ERR_FAILED/)
  })

  inAll("does not keep a reply that grows from being shown if it cannot be loaded", async () => {
    const page = await chat.open("/dashboard/chat")
    await page.route(READER, (route) => route.abort())
    await page.getByRole("textbox", { name: "Your question" }).fill("/slow 60")
    await page.keyboard.press("Enter")
    await page.waitForURL(/\/dashboard\/chat\/[0-9a-f-]{36}$/)
    await page.getByRole("log").getByText("word 1,").waitFor()
    await page.reload()
    await takenOver(page)
    await page.getByRole("log").getByText("**Development gateway").waitFor()
    await page.keyboard.press("Escape")
    chat.forgive(/ERR_FAILED/)
  })

  inAll(
    "leaves the text as it was written until it has loaded, and is requested again if loading failed",
    async () => {
      const page = await chat.open("/dashboard/chat")
      const isAway = { now: true }
      await page.route(READER, (route) => (isAway.now ? route.abort() : route.continue()))
      await page.reload()
      await takenOver(page)
      await ask(page, "/markdown")
      await page.getByRole("log").getByText("```").waitFor()
      isAway.now = false
      await ask(page, "/markdown again")
      await expect.poll(() => page.locator("[role=log] pre").count(), { timeout: 15_000 }).toBeGreaterThan(0)
      chat.forgive(/ERR_FAILED/)
    },
  )
})

describe("footnotes", () => {
  inAll("link to their text and back, by pointer and keyboard, without adding to the history", async () => {
    const filler = "Words.\n\n".repeat(60)
    const say = `High[^a] tide.\n\n${filler}Low[^b] tide.\n\n[^a]: Twice a day.\n[^b]: Six hours later.`
    const page = await chat.open(await chat.thread(0, { say }))
    const entries = await page.evaluate("history.length")
    const reference = page.getByLabel("Footnote 1", { exact: true })
    await reference.click()
    const focused = page.locator("li:focus")
    await focused.getByText("Twice a day.").waitFor()
    expect(await focused.evaluate(isInSight)).toBe(true)
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect.poll(() => reference.evaluate(hasFocus)).toBe(true)
    expect(await reference.evaluate(isInSight)).toBe(true)
    expect(await page.evaluate("history.length")).toBe(entries)
  })
})

const hasFocus = (element: Element) => element === element.ownerDocument.activeElement

function isInSight(element: Element) {
  const { top, bottom } = element.getBoundingClientRect()
  return top >= 0 && bottom <= window.innerHeight
}

async function ask(page: Page, question: string) {
  await page.getByLabel("Your question").fill(question)
  await page.keyboard.press("Enter")
  await page.getByText(/^The reply is complete\.$/).waitFor({ state: "attached" })
  await page.getByRole("button", { name: "Stop generating" }).waitFor({ state: "detached" })
}
