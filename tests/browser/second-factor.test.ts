import type { BrowserContextOptions, Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { sample } from "../support/all.ts"
import { faultsOf } from "../support/axe.ts"
import { giveCookies } from "../support/browser.ts"
import { signUp, type Person } from "../support/people.ts"
import { openAuthenticator } from "../support/second-factor.ts"
import { withBrowser } from "../support/with-browser.ts"
import { withTideline } from "../support/with-tideline.ts"

const { app, sql } = withTideline({ settings: { ADMIN_EMAILS: "operator@example.org" } })
const browser = withBrowser()

const looks = [
  ["without JavaScript, on a phone", { javaScriptEnabled: false, viewport: { width: 390, height: 844 } }],
  ["on a desktop", { viewport: { width: 1440, height: 900 }, colorScheme: "dark" }],
] satisfies [string, BrowserContextOptions][]

describe.each(sample(looks, 2))("two-factor authentication, %s", (where, options) => {
  it("is set up from the account page, and a recovery code signs in once", { timeout: 120_000 }, async () => {
    const person = await newPerson(`${where.length}@example.org`)
    const page = await open(person, "/dashboard/account", options)
    await page.getByRole("link", { name: "Set up" }).click()
    await page.getByRole("heading", { name: "Set up two-factor authentication" }).waitFor()
    await look(page, options)
    await page.getByLabel("Password", { exact: true }).fill(person.password)
    await page.getByRole("button", { name: "Continue" }).click()
    await page.getByRole("img", { name: "QR code for your authenticator app" }).waitFor()
    await look(page, options)
    const link = page.getByRole("link", { name: "Open your authenticator app" })
    const phone = openAuthenticator((await link.getAttribute("href")) ?? "")
    await page.getByLabel("Code", { exact: true }).fill("000000")
    await page.getByRole("button", { name: "Turn on" }).click()
    await page.getByText("This code is wrong or has been used.").waitFor()
    await page.getByLabel("Code", { exact: true }).fill(phone.code())
    await page.getByRole("button", { name: "Turn on" }).click()
    await page.getByRole("heading", { name: "Save your recovery codes" }).waitFor()
    await look(page, options)
    const codes = await page.getByRole("listitem").allTextContents()
    expect(codes).toHaveLength(10)
    await page.getByRole("link", { name: "I have saved them" }).click()
    await page.getByText("On, 10 recovery codes left.").waitFor()
    await look(page, options)

    const signIn = await openSignIn(person, options)
    await signIn.getByRole("heading", { name: "Enter your code" }).waitFor()
    await look(signIn, options)
    await signIn.getByRole("link", { name: "Use a recovery code" }).click()
    await signIn.getByLabel("Recovery code").fill(codes[0]?.toUpperCase() ?? "")
    await signIn.getByRole("button", { name: "Sign in", exact: true }).click()
    await signIn.waitForURL(/\/dashboard$/)
    await signIn.context().close()

    const again = await openSignIn(person, options)
    await again.getByRole("link", { name: "Use a recovery code" }).click()
    await again.getByLabel("Recovery code").fill(codes[0] ?? "")
    await again.keyboard.press("Enter")
    await again.getByText("This code is wrong or has been used.").waitFor()
    await again.getByRole("link", { name: "Use your authenticator app" }).click()
    await again.getByLabel("Code", { exact: true }).fill(phone.code())
    await again.getByLabel("Trust this browser for 30 days").check()
    await again.keyboard.press("Enter")
    await again.waitForURL(/\/dashboard$/)
    await again.context().close()

    await page.getByText("Turn off two-factor authentication").click()
    const form = page.locator("form", { has: page.getByRole("button", { name: "Turn off" }) })
    await form.getByLabel("Your password").fill(person.password)
    await form.getByLabel("Code", { exact: true }).fill(codes[1] ?? "")
    await look(page, options)
    await form.getByRole("button", { name: "Turn off" }).click()
    await page.getByText("Two-factor authentication is off.").waitFor()
    await page.context().close()
  })
})

it("an operator without a second factor is turned away from /admin, and led to the set-up", async () => {
  const operator = await newPerson("operator@example.org")
  await sql`update auth.user set email_verified = true, holder_confirmed = true where email = ${operator.email}`
  const page = await open(operator, "/admin")
  await page.getByText("Operators need two-factor authentication").waitFor()
  await look(page)
  await page.getByRole("link", { name: "Continue with two-factor authentication" }).click()
  await page.getByLabel("Password", { exact: true }).fill(operator.password)
  await page.getByRole("button", { name: "Continue" }).click()
  const link = page.getByRole("link", { name: "Open your authenticator app" })
  const phone = openAuthenticator((await link.getAttribute("href")) ?? "")
  await page.getByLabel("Code", { exact: true }).fill(phone.code())
  await page.getByRole("button", { name: "Turn on" }).click()
  await page.getByRole("link", { name: "I have saved them" }).click()
  await page.waitForURL(/\/admin$/)
  await page.getByRole("heading", { name: "Overview" }).waitFor()
  await page.context().close()
})

async function newPerson(email: string): Promise<Person> {
  const person = await signUp(app, { name: "Ada Lovelace", email })
  await person("/onboarding")
  await sql`update users set onboarding_completed = true where email = ${email}`
  return person
}

async function open(person: Person, path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options })
  await giveCookies(context, person, app)
  const page = await context.newPage()
  await page.goto(app.origin + path)
  return page
}

/** The first step, in a browser without cookies. */
async function openSignIn({ email, password }: Person, options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options })
  const page = await context.newPage()
  await page.goto(`${app.origin}/sign-in`)
  await page.getByLabel("Email address").fill(email)
  await page.getByLabel("Password", { exact: true }).fill(password)
  await page.getByRole("button", { name: "Sign in", exact: true }).click()
  return page
}

let seen = 0

/**
 * Checks that nothing is wider than the screen, and that axe, which is a script, finds nothing.
 * SCREENSHOTS names a folder for screenshots.
 */
async function look(page: Page, { javaScriptEnabled: hasScript = true }: BrowserContextOptions = {}) {
  const folder = process.env["SCREENSHOTS"]
  seen += 1
  if (folder) await page.screenshot({ path: `${folder}/second-factor-${seen}.png`, fullPage: true })
  const width = await page.evaluate(() => document.documentElement.scrollWidth)
  expect(width).toBe(page.viewportSize()?.width)
  if (hasScript) expect(await faultsOf(page)).toEqual([])
}
