import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { sample } from "../support/all.ts"
import { openChatBrowser } from "../support/chat-browser.ts"
import { hostileMarkdown } from "../support/hostile-markdown.ts"
import { slowness } from "../support/longest-pass.ts"
import { openScriptedGateway } from "../support/scripted-gateway.ts"
import { withResource } from "../support/with-resource.ts"

/** Milliseconds of processor time for which a reply may keep the page from its reader. */
const MOST = 200

const gateway = withResource(openScriptedGateway)
const chat = withResource(() => openChatBrowser(gateway.env))
let page: Page
let asked = 0

const formula = (unit: string, length = 3_990) => `$$\n${unit.repeat(Math.floor(length / unit.length))}\n$$\n`

const REPLIES: Record<string, string> = {
  "code of 30,000 characters in 6,000 colours": `\`\`\`js\n${"/*aaaaaaaaaa*/ 1;\n\n\n".repeat(1_490)}\`\`\`\n`,
  "a formula of 4,000 characters": formula("x^2+"),
  "a formula of 1,300 fractions": formula("\\frac{a}{b}"),
  "a formula of nested roots": `$$\n${"\\sqrt{".repeat(250)}x${"}".repeat(250)}\n$$\n`,
  "a matrix": `$$\n\\begin{matrix}${"a&b\\\\".repeat(750)}\\end{matrix}\n$$\n`,
  "many formulas": "$x^2$ ".repeat(3_300),
}

describe("a page stays with its reader while a reply arrives", () => {
  const texts = hostileMarkdown(19_900).filter((_, at) => at % 8 === 0)
  it.each(sample([...Object.entries(REPLIES), ...texts], 12))(
    "%s",
    { timeout: 120_000 },
    async (name, text) => {
      const longest = Math.min(await longestTask(text), await longestTask(text))
      if (process.env["PASSES"]) process.stdout.write(`${longest.toFixed(0).padStart(5)} ms  ${name}\n`)
      expect(longest).toBeLessThanOrEqual(MOST * slowness())
    },
  )
})

/** The processor time, in ms, of the longest task of the page's thread until the reply is shown. */
async function longestTask(text: string): Promise<number> {
  // Not its first reply, for which a title would be asked for as well.
  page = await chat.open(await chat.thread(2))
  await chat.browser.startTracing(page, { categories: ["toplevel", "disabled-by-default-devtools.timeline"] })
  await page.getByLabel("Your question").fill("Go on")
  await page.keyboard.press("Enter")
  const reply = await gateway.asked(asked++)
  for (let at = 0; at < text.length; at += 400) {
    reply.say(text.slice(at, at + 400))
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  reply.finish()
  await page.getByText(/^The reply (is complete|ended early)\.$/).waitFor({ state: "attached" })
  await page.getByRole("button", { name: "Stop generating" }).waitFor({ state: "detached" })
  if (text.startsWith("```js"))
    await expect.poll(() => page.locator("code span").count(), { timeout: 15_000 }).toBeGreaterThan(2_000)
  await quiet(page)
  const trace = await chat.browser.stopTracing()
  await page.context().close()
  return longestIn(JSON.parse(trace.toString()).traceEvents)
}

/** Resolves once nothing on the page has changed for a moment: colours and formulas follow the text. */
function quiet(shown: Page) {
  return shown.evaluate(
    () =>
      new Promise<void>((resolve) => {
        let timer = setTimeout(resolve, 1000)
        new MutationObserver(() => {
          clearTimeout(timer)
          timer = setTimeout(resolve, 1000)
        }).observe(document, { subtree: true, childList: true, characterData: true })
      }),
  )
}

interface TraceEvent {
  name: string
  ph: string
  pid: number
  tid: number
  /** Microseconds, of the clock and of the thread's processor time. */
  dur?: number
  tdur?: number
  args: Record<string, unknown>
}

function longestIn(events: readonly TraceEvent[]): number {
  const threads = events.filter(
    ({ name, args }) => name === "thread_name" && args["name"] === "CrRendererMain",
  )
  const tasks = events.filter(({ pid, tid }) => threads.some((each) => each.pid === pid && each.tid === tid))
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000
}
