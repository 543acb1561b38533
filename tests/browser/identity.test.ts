import type { Browser, BrowserContext, Page } from "playwright-core"
import postgres from "postgres"
import { afterAll, beforeAll, expect } from "vitest"
import { inAll } from "../support/all.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { faultsOf } from "../support/axe.ts"
import { giveCookies, launchBrowser, takenOver } from "../support/browser.ts"
import { startOpenIdProvider, type OpenIdProvider } from "../support/openid-provider.ts"
import { findFreePort } from "../support/ports.ts"
import { ada, grace, signUp, type Person } from "../support/people.ts"
import { addSecondFactor } from "../support/second-factor.ts"

let app: TidelineApp
let sql: postgres.Sql
let browser: Browser
let provider: OpenIdProvider
let operator: Person
let person: Person
beforeAll(async () => {
  const port = await findFreePort()
  provider = await startOpenIdProvider(`http://localhost:${port}`)
  app = await startTideline({ ...provider.env, PORT: String(port), ADMIN_EMAILS: ada.email })
  sql = postgres(app.databaseUrl, { max: 1 })
  browser = await launchBrowser()
  operator = await signUp(app, ada)
  person = await signUp(app, grace)
  for (const send of [operator, person]) await send("/onboarding")
  await sql`update auth.user set email_verified = true, holder_confirmed = true where email = ${ada.email}`
  await addSecondFactor(operator, operator.password)
  await sql`update users set onboarding_completed = true`
})
afterAll(async () => {
  await browser.close()
  await sql.end()
  await app.stop()
  await provider.stop()
})

inAll(
  "an operator suspends somebody by keyboard, and the person's open page leads to the reason",
  async () => {
    const theirs = await open(person, "/dashboard/files")
    await takenOver(theirs)
    const page = await open(operator, "/admin/people?q=grace")
    await page.locator("summary", { hasText: "Suspend" }).focus()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.getByText("Done: you suspended grace@example.org.").waitFor()
    expect(await faultsOf(page)).toEqual([])

    await theirs.waitForURL(/\/sign-in\?/)
    await theirs.getByRole("alert").filter({ hasText: "This account is suspended" }).waitFor()
    expect(await faultsOf(theirs)).toEqual([])
    await theirs.getByLabel("Email address").fill(person.email)
    await theirs.getByLabel("Password", { exact: true }).fill(person.password)
    await theirs.keyboard.press("Enter")
    await theirs.getByRole("alert").filter({ hasText: "Ask the administrator of this server" }).waitFor()

    await page.getByRole("button", { name: /^Allow again/ }).press("Enter")
    await page.getByText("Done: you allowed grace@example.org again.").waitFor()
    await theirs.getByLabel("Password", { exact: true }).fill(person.password)
    await theirs.keyboard.press("Enter")
    await theirs.waitForURL(/\/dashboard\/files$/)
  },
)

inAll(
  "somebody signs up by a provider with the keyboard, signs out, and signs out there as well",
  async () => {
    const page = await (await browser.newContext()).newPage()
    await page.goto(`${app.origin}/sign-up`)
    expect(await faultsOf(page)).toEqual([])
    await page.getByRole("link", { name: "Continue with Harbour Office" }).press("Enter")
    await page.locator("[name=login]").fill("katherine")
    await page.locator("[name=password]").fill("anything")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Continue" }).press("Enter")
    await page.waitForURL(`${app.origin}/onboarding`)
    await page.getByText("katherine of the provider").first().waitFor()
    await sql`update users set onboarding_completed = true`

    await page.goto(`${app.origin}/dashboard/account`)
    await page.getByText("and have no password here").waitFor()
    await page.evaluate(() =>
      document.querySelector<HTMLFormElement>("form[action='/sign-out']")?.requestSubmit(),
    )
    await page.getByText("You're signed out").waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.getByRole("link", { name: "Sign out there too" }).press("Enter")
    await page.getByRole("button", { name: /sign me out/i }).press("Enter")
    await page.waitForURL(`${app.origin}/`)
  },
)

inAll("somebody who cancels at the provider is told what to do", async () => {
  const page = await (await browser.newContext()).newPage()
  await page.goto(`${app.origin}/sign-in?redirect_url=%2Fdashboard%2Ffiles`)
  await page.getByRole("link", { name: "Continue with Harbour Office" }).click()
  await page.getByRole("link", { name: /cancel/i }).click()
  await page.getByRole("alert").filter({ hasText: "You cancelled signing in" }).waitFor()
  expect(await faultsOf(page)).toEqual([])
})

async function open(who: Person, path: string): Promise<Page> {
  const context: BrowserContext = await browser.newContext()
  await giveCookies(context, who, app)
  const page = await context.newPage()
  await page.goto(app.origin + path)
  return page
}
