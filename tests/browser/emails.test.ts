import type { Browser, Page } from "playwright-core"
import PostalMime from "postal-mime"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { accountPageOperations } from "#server/accounts/page-operations-contract.ts"
import { writeEmail } from "#server/mail/mail.ts"
import { operatorOperations } from "#server/operator/operations-contract.ts"
import { userOperations } from "#server/users/operations-contract.ts"
import { inAll, sample } from "../support/all.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { faultsOf } from "../support/axe.ts"
import { launchBrowser } from "../support/browser.ts"
import { formFor, submitForm } from "../support/forms.ts"
import { openBrowser, postJson } from "../support/people.ts"
import { addSecondFactor } from "../support/second-factor.ts"
import { openSmtpReceiver, type SmtpReceiver } from "../support/smtp.ts"

const PASSWORD = "an engine of brass and cards"

let receiver: SmtpReceiver
let app: TidelineApp
let browser: Browser
beforeAll(async () => {
  receiver = await openSmtpReceiver()
  app = await startTideline({
    SMTP_URL: receiver.url,
    EMAIL_VERIFICATION: "required",
    ADMIN_EMAILS: "operator@example.org",
  })
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser.close()
  await app.stop()
  await receiver.stop()
})

// Each flow covers many pages.
describe("an email, opened in a browser as it was delivered", { timeout: 120_000 }, () => {
  inAll("opens a new account, and the welcome follows once onboarding is complete", async () => {
    const page = await browser.newPage()
    await page.goto(`${app.origin}/sign-up`)
    await page.getByLabel("Name").fill("Ada Lovelace")
    await page.getByLabel("Email address").fill("ada@example.org")
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD)
    await page.getByRole("button", { name: "Sign up" }).click()
    await page.getByRole("heading", { name: "Check your inbox" }).waitFor()

    await page.goto(await readEmail("ada@example.org", "Confirm your email address for Tideline"))
    for (const step of ["Get started", "Go to the dashboard"])
      await page.getByRole("button", { name: step }).click()
    await page.goto(await readEmail("ada@example.org", "Welcome to Tideline"))
    await page.getByRole("heading", { name: "Welcome, Ada" }).waitFor()
    await page.close()
  })

  inAll("warns the owner of an account that someone tried to sign up with the address", async () => {
    await openAccount("grace@example.org")
    const page = await browser.newPage()
    await page.goto(`${app.origin}/sign-up`)
    await page.getByLabel("Name").fill("Grace Hopper")
    await page.getByLabel("Email address").fill("grace@example.org")
    await page.getByLabel("Password", { exact: true }).fill("another password")
    await page.getByRole("button", { name: "Sign up" }).click()
    await page.getByRole("heading", { name: "Check your inbox" }).waitFor()
    await page.goto(await readEmail("grace@example.org", "You already have a Tideline account"))
    await signIn(page, "grace@example.org", PASSWORD)
    await page.getByRole("heading", { name: /Welcome aboard/ }).waitFor()
    await page.close()
  })

  inAll("resets a password", async () => {
    await openAccount("emmy@example.org")
    const page = await browser.newPage()
    await page.goto(`${app.origin}/sign-in`)
    await page.getByRole("link", { name: "Forgot your password?" }).click()
    await page.getByRole("heading", { name: "Reset your password" }).waitFor()
    await page.getByLabel("Email address").fill("emmy@example.org")
    await page.getByRole("button", { name: "Send link" }).click()
    await page.getByText("Check your inbox").waitFor()
    await page.goto(await readEmail("emmy@example.org", "Reset your Tideline password"))
    await page.getByLabel("New password").fill("every symmetry conserves")
    await page.getByRole("button", { name: "Save password" }).click()
    await page.getByText("Your password has been changed").waitFor()
    await signIn(page, "emmy@example.org", "every symmetry conserves")
    await page.getByRole("heading", { name: /Welcome aboard/ }).waitFor()
    await page.close()
  })

  inAll("says that the plan was changed, and that the account was deleted", async () => {
    const mary = await openAccount("mary@example.org")
    const operator = await openOperator()
    await mary("/onboarding")
    await operator("/onboarding")
    const people = await (await operator("/admin/people?q=mary")).text()
    const [, userId = ""] = /&quot;userId&quot;:&quot;([^"]+?)&quot;/.exec(people) ?? []
    const done = "/admin/people?did=:_id"
    const change = formFor(operatorOperations.changePlan, { userId, plan: "pro" }, {}, done)
    expect((await operator("/admin/people", change)).status).toBe(303)
    const page = await browser.newPage()
    await page.goto(await readEmail("mary@example.org", "Your Tideline plan has changed"))
    expect(new URL(page.url()).pathname).toBe("/pricing")

    await submitForm(mary, "/onboarding", accountPageOperations.finishWelcome)
    await submitForm(mary, "/onboarding", userOperations.completeOnboarding)
    const deletion = new URLSearchParams({ intent: "delete-account", confirmation: PASSWORD })
    expect((await mary("/dashboard/account", { method: "POST", body: deletion })).status).toBe(303)
    await readEmail("mary@example.org", "Your Tideline account has been deleted", { hasButton: false })
    await page.close()
  })

  inAll("confirms a place on the waitlist, and invites someone from it", async () => {
    const page = await browser.newPage()
    await page.goto(`${app.origin}/waitlist`)
    await page.getByLabel("Email address").fill("joan@example.org")
    await page.getByRole("main").getByRole("button").first().click()
    await page.goto(await readEmail("joan@example.org", "Confirm your place on the Tideline waitlist"))
    await page.getByRole("main").getByRole("button").first().click()
    await page
      .getByText(/on the list/i)
      .first()
      .waitFor()

    const operator = await openOperator()
    const invite = formFor(operatorOperations.invite, { email: "joan@example.org" }, {}, "/admin/waitlist")
    expect((await operator("/admin/waitlist", invite)).status).toBe(303)
    await page.goto(await readEmail("joan@example.org", "There is room for you at Tideline"))
    expect(await page.getByLabel("Email address").inputValue()).toBe("joan@example.org")
    await page.getByLabel("Name").fill("Joan")
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD)
    await page.getByRole("button", { name: "Sign up" }).click()
    await page.getByRole("heading", { name: /Welcome aboard/ }).waitFor()
    await page.close()
  })
})

/** Its texts are longer. */
it("every email fits and is readable in German too", { timeout: 120_000 }, async () => {
  const url = `${app.origin}/sign-in/new-password?token=${"x".repeat(43)}`
  const reader = { name: "Ada Lovelace", email: "ada@example.org", clerkId: "ada", userId: "ada" } as const
  const about = { ...reader, language: "de", url, minutes: 60, days: 7, mostOpen: 1 } as const
  const plans = { previousPlan: "free", newPlan: "pro", change: "1" }
  for (const written of sample(
    [
      writeEmail(app, "welcome", about),
      writeEmail(app, "plan-changed", { ...about, ...plans }),
      writeEmail(app, "reset-password", about),
      writeEmail(app, "verify-address", about),
      writeEmail(app, "sign-up-attempted", about),
      writeEmail(app, "waitlist-confirmation", about),
      writeEmail(app, "waitlist-invitation", about),
      writeEmail(app, "account-deleted", about),
    ],
    8,
  )) {
    const { subject, html } = (await written).message
    await lookAt(subject, html)
  }
})

/**
 * Waits for the email, and checks it on a phone and on a large screen, in light and in dark mode:
 * it fits, and it is accessible. Resolves to the URL of its button. SCREENSHOTS names a folder for
 * screenshots.
 */
async function readEmail(to: string, subject: string, { hasButton } = { hasButton: true }): Promise<string> {
  const message = await vi.waitFor(
    async () => {
      const parsed = await Promise.all(
        receiver.received
          .filter(({ envelope }) => envelope.to.includes(to))
          .map(({ source }) => PostalMime.parse(source)),
      )
      const found = parsed.find((one) => one.subject === subject)
      if (!found?.html) throw new Error(`${to} has received no email called “${subject}”.`)
      return { html: found.html }
    },
    { timeout: 20_000 },
  )
  await lookAt(subject, message.html)
  const [button = ""] = /<a [^>]*class="button"[^>]*>/.exec(message.html) ?? []
  const address = /href="([^"]+)"/.exec(button)?.[1]?.replaceAll("&amp;", "&")
  expect(address !== undefined).toBe(hasButton)
  return address ?? ""
}

const seen = new Set<string>()

/** Once is enough for each kind of email. */
async function lookAt(subject: string, html: string) {
  if (seen.has(subject)) return
  seen.add(subject)
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.setContent(html)
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme })
    for (const width of [800, 390]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
      const folder = process.env["SCREENSHOTS"]
      const name = subject.toLowerCase().replaceAll(" ", "-")
      if (folder)
        await page.screenshot({
          path: `${folder}/email-${name}-${colorScheme}-${width}.png`,
          fullPage: true,
        })
    }
    expect(await faultsOf(page, ["color-contrast", "link-name"]), subject).toEqual([])
  }
  await context.close()
}

/** A signed-in user with a confirmed email address. */
async function openAccount(email: string) {
  const account = { name: "Somebody", email, password: PASSWORD }
  const visitor = openBrowser(app)
  await postJson(visitor, "/api/auth/sign-up/email", account)
  await visitor(await readEmail(email, "Confirm your email address for Tideline"))
  return signedIn(email)
}

/** The same one for every test: a second factor is set up once. */
function openOperator() {
  operator ??= openAccount("operator@example.org").then(async (person) => {
    await addSecondFactor(person, PASSWORD)
    return person
  })
  return operator
}
let operator: Promise<ReturnType<typeof openBrowser>> | undefined

async function signedIn(email: string) {
  const person = openBrowser(app)
  const answer = await postJson(person, "/api/auth/sign-in/email", { email, password: PASSWORD })
  expect(answer.status).toBe(200)
  return person
}

async function signIn(page: Page, email: string, password: string) {
  await page.getByLabel("Email address").fill(email)
  await page.getByLabel("Password", { exact: true }).fill(password)
  await page.getByRole("button", { name: "Sign in", exact: true }).click()
}
