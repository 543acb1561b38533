import type { BrowserContextOptions, Page } from "playwright-core"
import { expect, it } from "vitest"
import { inAll } from "../support/all.ts"
import { faultsOf } from "../support/axe.ts"
import { giveCookies } from "../support/browser.ts"
import { signUp, type Person } from "../support/people.ts"
import { withBrowser } from "../support/with-browser.ts"
import { withTideline } from "../support/with-tideline.ts"

const { app, sql } = withTideline({ settings: { ADMIN_EMAILS: "operator@example.org" } })
const browser = withBrowser()

const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: "dark" } as const
const DESKTOP = { viewport: { width: 1440, height: 900 } } as const

it("a passkey is added by keyboard, signs in, opens /admin for an operator, and is removed", async () => {
  const person = await newPerson("operator@example.org")
  await sql`update auth.user set email_verified = true, holder_confirmed = true`
  const page = await open(DESKTOP)
  // The button is meant here, and not the suggestions of the field.
  await page.addInitScript(
    "if (window.PublicKeyCredential) PublicKeyCredential.isConditionalMediationAvailable = async () => false",
  )
  await giveCookies(page.context(), person, app)
  await page.goto(`${app.origin}/dashboard/account`)
  await page.getByLabel("Name of the new passkey").fill("key ring")
  await page.keyboard.press("Tab")
  await page.keyboard.type("a wrong guess")
  await page.keyboard.press("Enter")
  await page.getByText("That is not your password.").waitFor()
  await inForm(page, "begin-passkey").getByLabel("Your password").fill(person.password)
  await page.keyboard.press("Enter")
  await page.getByText("Passkey added.").waitFor()
  await page.getByText("never used").first().waitFor()
  await look(page)

  await signOut(page)
  await page.goto(`${app.origin}/sign-in?redirect_url=/admin`)
  await page.getByRole("button", { name: "Sign in with a passkey" }).focus()
  await look(page)
  await page.keyboard.press("Enter")
  await page.waitForURL(/\/admin$/)
  await page.getByRole("heading", { name: "Overview" }).waitFor()

  await page.setViewportSize(PHONE.viewport)
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" })
  await page.goto(`${app.origin}/dashboard/account`)
  await page.getByText("Rename or remove").click()
  await look(page)
  await inForm(page, "rename-passkey").getByLabel("Name").fill("spare key")
  await page.getByRole("button", { name: "Rename" }).click()
  await page.getByText("Passkey renamed.").waitFor()
  await inForm(page, "remove-passkey").getByLabel("Your password").fill(person.password)
  await page.getByRole("button", { name: "Remove spare key" }).click()
  await page.getByText("Passkey removed.").waitFor()

  await signOut(page)
  await page.goto(`${app.origin}/sign-in`)
  await page.getByRole("button", { name: "Sign in with a passkey" }).click()
  await page.getByText("This passkey isn't known here").waitFor()
  await look(page)
  await page.context().close()
})

inAll("a passkey signs in from the suggestions of the email field", async () => {
  const person = await newPerson("grace@example.org")
  const page = await open(PHONE)
  await giveCookies(page.context(), person, app)
  await page.goto(`${app.origin}/dashboard/account`)
  await page.getByLabel("Name of the new passkey").fill("phone")
  await inForm(page, "begin-passkey").getByLabel("Your password").fill(person.password)
  await page.getByRole("button", { name: "Add a passkey" }).click()
  await page.getByText("Passkey added.").waitFor()
  await signOut(page)
  // The virtual authenticator takes the suggestion by itself.
  await page.goto(`${app.origin}/sign-in?redirect_url=/dashboard/files`)
  await page.waitForURL(/\/dashboard\/files$/)
  await page.context().close()
})

it("a browser without passkeys shows the form for the password alone", async () => {
  const person = await newPerson("joan@example.org")
  const context = await browser.newContext({ reducedMotion: "reduce" })
  const page = await context.newPage()
  await page.addInitScript("delete window.PublicKeyCredential")
  await page.goto(`${app.origin}/sign-in`)
  expect(await page.getByRole("button", { name: "Sign in with a passkey" }).count()).toBe(0)
  await page.getByLabel("Email address").fill(person.email)
  await page.getByLabel("Password", { exact: true }).fill(person.password)
  await page.getByRole("button", { name: "Sign in", exact: true }).click()
  await page.waitForURL(/\/dashboard$/)
  await context.close()
})

async function newPerson(email: string): Promise<Person> {
  const person = await signUp(app, { name: "Ada Lovelace", email })
  await person("/onboarding")
  await sql`update users set onboarding_completed = true`
  return person
}

/** A browser on a device that verifies its owner without asking anybody. */
async function open(options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options })
  const page = await context.newPage()
  const devtools = await context.newCDPSession(page)
  await devtools.send("WebAuthn.enable")
  await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return page
}

/** Away from the page first, which would go to the sign-in page by itself. */
async function signOut(page: Page) {
  await page.goto("about:blank")
  const out = await page.request.post(`${app.origin}/sign-out`, { headers: { origin: app.origin } })
  expect(out.ok()).toBe(true)
}

/** The form that asks for this change. */
function inForm(page: Page, intent: string) {
  return page.locator("form", { has: page.locator(`[name=intent][value=${intent}]`) })
}

let seen = 0

/**
 * Checks that nothing is wider than the screen, and that axe finds nothing. SCREENSHOTS names a
 * folder for screenshots.
 */
async function look(page: Page) {
  const folder = process.env["SCREENSHOTS"]
  seen += 1
  if (folder) await page.screenshot({ path: `${folder}/passkeys-${seen}.png`, fullPage: true })
  const width = await page.evaluate(() => document.documentElement.scrollWidth)
  expect(width).toBe(page.viewportSize()?.width)
  expect(await faultsOf(page)).toEqual([])
}
