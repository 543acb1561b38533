import type { BrowserContextOptions, Page } from "playwright-core"
import { afterEach, describe, expect, it } from "vitest"
import { inAll, sample } from "../support/all.ts"
import { faultsInEveryLook } from "../support/axe.ts"
import { giveCookies, takenOver } from "../support/browser.ts"
import { postJson, signUp, type Person } from "../support/people.ts"
import { withBrowser } from "../support/with-browser.ts"
import { withTideline } from "../support/with-tideline.ts"

const { app, sql } = withTideline()
const browser = withBrowser()

const complaints: string[] = []
afterEach(async () => {
  // A page that stays open would report errors in the middle of another test.
  for (const context of browser.contexts()) await context.close()
  expect(complaints.splice(0)).toEqual([])
})

describe("onboarding", () => {
  inAll("can be completed by keyboard alone", async () => {
    const page = await open(await newPerson("Ada"), "/dashboard")
    await heading(page, "Welcome aboard, Ada")
    await page.getByRole("button", { name: "Get started" }).focus()
    await page.keyboard.press("Enter")

    // She has said her name.
    await heading(page, "Try it out")
    expect(await focused(page)).toBe("Try it out")
    await page.getByRole("button", { name: "Go to the dashboard" }).focus()
    await page.keyboard.press("Enter")
    await heading(page, "Welcome, Ada")
    expect(new URL(page.url()).pathname).toBe("/dashboard")
  })

  it("needs no JavaScript", async () => {
    const page = await open(await newPerson("Ada"), "/onboarding", { javaScriptEnabled: false })
    await page.getByRole("button", { name: "Get started" }).click()
    await page.getByRole("button", { name: "Back" }).click()
    await page.getByLabel("Name").fill("Ada Lovelace")
    await page.getByRole("button", { name: "Continue" }).click()
    await page.getByRole("button", { name: "Back" }).click()
    expect(await page.getByLabel("Name").inputValue()).toBe("Ada Lovelace")
    await page.getByRole("button", { name: "Continue" }).click()
    await page.getByRole("button", { name: "Go to the dashboard" }).click()
    await heading(page, "Welcome, Ada")
  })

  inAll("uploads a first file in place", async () => {
    const ada = await newPerson("Ada")
    await moveTo(ada, { onboarding_step: "first-steps" })
    const page = await open(ada, "/onboarding")
    const file = { name: "tides.txt", mimeType: "text/plain", buffer: Buffer.from("high water 06:12") }
    await page
      .getByRole("region", { name: "Upload a file" })
      .locator("input[type=file]")
      .first()
      .setInputFiles(file)
    await page.getByRole("region", { name: "Upload a file" }).getByText("tides.txt").first().waitFor()
    await page.getByRole("button", { name: "Upload another", exact: true }).waitFor()
    // PostgreSQL sends a commit from its log slightly before other sessions can see its rows.
    await expect.poll(() => sql`select 1 from files where file_name = 'tides.txt'`).toHaveLength(1)
  })
})

describe("the dashboard", () => {
  it("updates the record with the provider's current values", async () => {
    const ada = await onboarded("Ada")
    await sql`update auth."user" set plan = 'pro', name = 'Ada King' where email = ${ada.email}`
    const page = await open(ada, "/dashboard")
    await page.getByRole("button", { name: "Your account, Ada King" }).getByText("Pro").waitFor()
    expect(await sql`select name, plan from users where email = ${ada.email}`).toEqual([
      { name: "Ada King", plan: "pro" },
    ])
  })

  inAll("requests the sync only when something differs", async () => {
    const page = await open(await onboarded("Ada"), "/dashboard")
    const asked: string[] = []
    page.on("request", (request) => asked.push(new URL(request.url()).pathname))
    await page.reload()
    await takenOver(page)
    await page.getByRole("link", { name: "Files" }).first().click()
    await heading(page, "Files")
    expect(asked).toContain("/dashboard/files.data")
    expect(asked).not.toContain("/api/users/sync")
  })

  inAll("sends anyone who has to be onboarded again there, immediately from an open page too", async () => {
    const ada = await onboarded("Ada")
    const page = await open(ada, "/dashboard")
    await moveTo(ada, { onboarding_completed: false, onboarding_step: "profile" })
    await heading(page, "What should we call you?")
  })

  inAll("marks the current page, and moves the focus to it", async () => {
    const page = await open(await onboarded("Ada"), "/dashboard")
    const places = page.getByRole("navigation", { name: "Dashboard" })
    expect(await places.locator("[aria-current=page]").allInnerTexts()).toEqual(["Home"])
    await places.getByRole("link", { name: "Files" }).click()
    await heading(page, "Files")
    expect(await places.locator("[aria-current=page]").allInnerTexts()).toEqual(["Files"])
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("main")
  })

  it("lets keyboard users skip the navigation", async () => {
    const page = await open(await onboarded("Ada"), "/dashboard")
    await page.keyboard.press("Tab")
    expect(await focused(page)).toBe("Skip to content")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    expect(await page.evaluate(() => document.activeElement?.closest("main") !== null)).toBe(true)
  })

  it("signs out from the user menu", async () => {
    const page = await open(await onboarded("Ada"), "/dashboard")
    await page.getByRole("button", { name: /^Your account/ }).click()
    await page.getByRole("button", { name: "Sign out" }).click()
    await page.waitForURL(`${app.origin}/`)
    await page.goto(`${app.origin}/dashboard`)
    expect(new URL(page.url()).pathname).toBe("/sign-in")
  })

  inAll("passes a message on to the chat", async () => {
    const page = await open(await onboarded("Ada"), "/dashboard")
    await page.getByRole("textbox", { name: "Ask the chat" }).fill("What time is it?")
    await page.keyboard.press("Enter")
    await page.waitForURL(/\/dashboard\/chat\/[0-9a-f-]{36}$/)
    await page.getByRole("main").getByText("What time is it?").first().waitFor()
  })
})

describe("every page here", () => {
  it("fits a narrow window, however long its names are", async () => {
    const ada = await onboarded("A".repeat(100))
    await ada(`/api/files?name=${"f".repeat(200)}.txt`, { method: "POST", body: "…" })
    await postJson(ada, "/api/chat/threads", { title: "t".repeat(200) })
    const page = await open(ada, "/dashboard", { viewport: { width: 320, height: 700 } })
    expect(await widthOf(page)).toBe(320)
    await moveTo(ada, { onboarding_completed: false, onboarding_step: "first-steps" })
    await page.goto(`${app.origin}/onboarding`)
    expect(await widthOf(page)).toBe(320)
  })

  inAll(
    "has no accessibility violations in light and dark colours and fits into narrow and wide windows",
    { timeout: 120_000 },
    async () => {
      const options = { reducedMotion: "reduce" } as const
      expect(await faultsInEveryLook(await open(await onboarded("Ada"), "/dashboard", options))).toEqual([])
      const ada = await newPerson("Ada")
      for (const onboarding_step of sample(["welcome", "profile", "first-steps"], 2)) {
        await moveTo(ada, { onboarding_step })
        const page = await open(ada, "/onboarding", options)
        expect(await faultsInEveryLook(page), onboarding_step).toEqual([])
      }
    },
  )
})

let people = 0

function newPerson(name: string): Promise<Person> {
  people += 1
  return signUp(app, { name, email: `person-${people}@example.org` })
}

async function onboarded(name: string): Promise<Person> {
  const person = await newPerson(name)
  await moveTo(person, { onboarding_completed: true, onboarding_step: "done" })
  return person
}

/** Marks onboarding as finished. */
async function moveTo(person: Person, at: { onboarding_completed?: boolean; onboarding_step: string }) {
  await person("/onboarding")
  await sql`update users set ${sql(at)} where email = ${person.email}`
}

async function open(person: Person, path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
  await giveCookies(context, person, app)
  const page = await context.newPage()
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text())
  })
  page.on("pageerror", (error) => complaints.push(error.message))
  await page.goto(app.origin + path)
  if (options.javaScriptEnabled !== false) await takenOver(page)
  return page
}

function heading(page: Page, name: string) {
  return page.getByRole("heading", { level: 1, name, exact: true }).waitFor()
}

function widthOf(page: Page) {
  return page.evaluate(() => document.documentElement.scrollWidth)
}

function focused(page: Page) {
  return page.evaluate(() => document.activeElement?.textContent)
}
