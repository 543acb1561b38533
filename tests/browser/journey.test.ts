import type { Locator, Page } from "playwright-core"
import { afterEach, describe, expect, it } from "vitest"
import { sample } from "../support/all.ts"
import { takenOver } from "../support/browser.ts"
import { findEmail } from "../support/inbox.ts"
import { withBrowser } from "../support/with-browser.ts"
import { withTideline } from "../support/with-tideline.ts"

const { app } = withTideline({ settings: { SIGNUP: "open" } })
const browser = withBrowser()

const complaints: string[] = []
afterEach(() => {
  expect(complaints.splice(0)).toEqual([])
})

describe("a new person", () => {
  const ways = [
    ["by the keyboard alone", 1440, byKeyboard],
    ["with the mouse on a large screen", 1440, byMouse],
    ["by touch on a small one", 390, byMouse],
  ] as const

  it.each(sample(ways, 3))(
    "signs up, is welcomed, sends a message and stores a file, %s",
    async (_how, width, handOf) => {
      const page = await openPage(width)
      const hand = handOf(page)
      const email = `ada-${handOf.name}-${width}@example.org`.toLowerCase()

      await page.goto(`${app.origin}/`)
      await hand.press(page.locator('a[href^="/sign-up"]:visible').first())
      await heading(page, "Sign up")
      await hand.write(page.getByLabel("Name"), "Ada Lovelace")
      await hand.write(page.getByLabel("Email address"), email)
      await hand.write(page.getByLabel("Password", { exact: true }), "an engine of brass and cards")
      await hand.press(page.getByRole("button", { name: "Sign up" }))

      await heading(page, "Welcome aboard, Ada")
      await hand.press(page.getByRole("button", { name: "Get started" }))
      await heading(page, "Try it out")
      await hand.press(page.getByRole("button", { name: "Go to the dashboard" }))
      await heading(page, "Welcome, Ada")

      // Before its script runs, the page passes the message to the chat's own page, which does not
      // send it automatically.
      await takenOver(page)
      await hand.write(page.getByRole("textbox", { name: "Ask the chat" }), "What time is it in Lisbon?")
      await page.keyboard.press("Enter")
      await page.waitForURL(/\/dashboard\/chat\/[0-9a-f-]{36}$/)
      await page.getByText("The reply is complete.").waitFor({ state: "attached" })
      const [question, answer] = await page.getByRole("log").getByRole("article").all()
      expect(await question?.innerText()).toContain("What time is it in Lisbon?")
      // When all of the text has arrived, its end is still being revealed for a moment.
      await answer?.getByText("Development gateway: no language model is connected.").waitFor()

      await hand.press(
        page.getByRole("navigation", { name: "Dashboard" }).getByRole("link", { name: "Files" }),
      )
      await heading(page, "Files")
      const [chooser] = await Promise.all([
        page.waitForEvent("filechooser"),
        hand.press(page.getByRole("main").getByRole("button", { name: "Upload" }).first()),
      ])
      await chooser.setFiles({
        name: "tides.txt",
        mimeType: "text/plain",
        buffer: Buffer.from("high water 06:12"),
      })
      await page
        .getByRole("list", { name: "Your files" })
        .getByRole("link", { name: "tides.txt", exact: true })
        .waitFor()

      const message = await findEmail(app, email, /Welcome/)
      expect(message.text).toContain("Welcome aboard, Ada")
    },
  )
})

/** Navigates with the mouse only; text is typed as usual. */
function byMouse(page: Page) {
  return {
    press: (target: Locator) => target.click(),
    async write(target: Locator, words: string) {
      await target.click()
      await page.keyboard.type(words)
    },
  }
}

function byKeyboard(page: Page) {
  return {
    async press(target: Locator) {
      await goTo(page, target)
      await page.keyboard.press("Enter")
    },
    async write(target: Locator, words: string) {
      await goTo(page, target)
      await page.keyboard.type(words)
    },
  }
}

/** Presses Tab until the focus is there, which must happen within one round of the page. */
async function goTo(page: Page, target: Locator) {
  await target.waitFor()
  for (let presses = 0; presses < 80; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press("Tab")
  }
  throw new Error(`The keyboard does not reach ${target.toString()}.`)
}

async function openPage(width: number): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height: 900 }, hasTouch: width < 500 })
  page.on("pageerror", ({ message }) => complaints.push(message))
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text())
  })
  return page
}

function heading(page: Page, name: string) {
  return page.getByRole("heading", { level: 1, name, exact: true }).waitFor()
}
