import type { BrowserContextOptions, Page } from "playwright-core"
import { afterEach, describe, expect, it } from "vitest"
import { operatorOperations } from "#server/operator/operations-contract.ts"
import { formFor } from "../support/forms.ts"
import { inAll, sample } from "../support/all.ts"
import { faultsInEveryLook } from "../support/axe.ts"
import { giveCookies, takenOver } from "../support/browser.ts"
import { image } from "../support/images.ts"
import { findEmail } from "../support/inbox.ts"
import { signIn, signUp, type Person } from "../support/people.ts"
import { addSecondFactor } from "../support/second-factor.ts"
import { sparseFile } from "../support/sparse-file.ts"
import { withBrowser } from "../support/with-browser.ts"
import { withTideline } from "../support/with-tideline.ts"

const ACCOUNT = "/dashboard/account"
const NEXT_PASSWORD = "another engine of brass"

const { app, sql } = withTideline({ settings: { ADMIN_EMAILS: "operator@example.org" } })
const browser = withBrowser()

const complaints: string[] = []
afterEach(() => {
  expect(complaints.splice(0)).toEqual([])
})

describe("the account page", () => {
  inAll(
    "is reached through the menu, and a new name appears in the menu and in another open browser",
    async () => {
      const person = await newPerson()
      const page = await open(person, "/dashboard")
      const elsewhere = await open(await signIn(app, person), "/dashboard")
      await page
        .getByRole("button", { name: /Your account/ })
        .first()
        .click()
      await page.getByRole("link", { name: "Account", exact: true }).click()
      await page.getByRole("heading", { name: "Account", level: 1 }).waitFor()
      await page.getByLabel("Name", { exact: true }).fill("Countess of Lovelace")
      await page.getByRole("button", { name: "Save", exact: true }).click()
      await page.getByText("Name saved.").waitFor()
      for (const each of [page, elsewhere])
        await each.getByRole("button", { name: "Your account, Countess of Lovelace" }).first().waitFor()
      await leave(page, elsewhere)
    },
  )

  inAll(
    "previews a picture before it is saved, and shows it in another open browser afterwards",
    async () => {
      const person = await newPerson()
      const page = await open(person)
      const elsewhere = await open(await signIn(app, person), "/dashboard")
      const shown = page.getByRole("region", { name: "Profile" }).locator("img")
      const picture = page.getByLabel("Picture")
      await picture.setInputFiles(sparseFile("me.jpg", 10_000_001))
      await page.getByText("Choose a picture of at most 10 MB.").waitFor()
      const buffer = await image("jpeg", [900, 600])
      await picture.setInputFiles({ name: "me.jpg", mimeType: "image/jpeg", buffer })
      await expect.poll(() => shown.getAttribute("src")).toMatch(/^blob:/)
      await page.getByRole("button", { name: "Save picture" }).click()
      await page.getByText("Picture saved.").waitFor()
      for (const saved of [shown, elsewhere.locator("img[src*='/account/picture/']").first()])
        await expect
          .poll(() => saved.evaluate((drawn: HTMLImageElement) => drawn.naturalWidth), { timeout: 15_000 })
          .toBe(256)
      await page.getByRole("button", { name: "Remove picture" }).click()
      await page.getByText("Picture removed.").waitFor()
      await elsewhere.locator("img[src*='/account/picture/']").first().waitFor({ state: "detached" })
      await leave(page, elsewhere)
    },
  )

  it("takes a picture that is dropped on its field", async () => {
    const page = await open(await newPerson())
    const dataTransfer = await page.evaluateHandle(() => {
      const transfer = new DataTransfer()
      transfer.items.add(new File(["…"], "me.png", { type: "image/png" }))
      return transfer
    })
    await page.getByLabel("Picture").dispatchEvent("drop", { dataTransfer })
    expect(await page.getByLabel("Picture").inputValue()).toMatch(/me\.png$/)
    await leave(page)
  })

  it("changes the password and immediately signs out the second browser", async () => {
    const person = await newPerson()
    const page = await open(person)
    const elsewhere = await open(await signIn(app, person))
    const password = page.getByRole("region", { name: "Password" })
    await password.getByLabel("Current password").fill("not this one")
    await password.getByLabel("New password").fill(NEXT_PASSWORD)
    await password.getByRole("button", { name: "Change password" }).click()
    await password.getByText("That is not your password.").waitFor()

    // The end of its own session must not redirect the page before it has the response, and with it
    // the new session.
    await holdResponse(page, () => elsewhere.waitForURL("**/sign-in**"))
    await password.getByLabel("Current password").fill(person.password)
    await password.getByLabel("New password").fill(NEXT_PASSWORD)
    await password.getByRole("button", { name: "Change password" }).click()
    await password.getByText("All other browsers have been signed out").waitFor()
    await page.reload()
    await page.getByRole("heading", { name: "Account", level: 1 }).waitFor()
    await signIn(app, { email: person.email, password: NEXT_PASSWORD })
    await leave(page, elsewhere)
  })

  inAll("is not reloaded if it learns of the end of its old session after it has the new one", async () => {
    const person = await newPerson()
    const page = await open(person)
    // The test cannot hold the requests of a shared worker.
    await page.addInitScript("delete window.SharedWorker")
    await page.goto(app.origin + ACCOUNT)
    await takenOver(page)
    const isRefused = Promise.withResolvers<void>()
    const isChanged = Promise.withResolvers<void>()
    await page.route("**/api/realtime/token", async (route) => {
      const response = await route.fetch()
      if (response.status() === 401) {
        isRefused.resolve()
        await isChanged.promise
      }
      await route.fulfill({ response })
    })
    await holdResponse(page, () => isRefused.promise)
    const password = page.getByRole("region", { name: "Password" })
    await password.getByLabel("Current password").fill(person.password)
    await password.getByLabel("New password").fill(NEXT_PASSWORD)
    await password.getByRole("button", { name: "Change password" }).click()
    await password.getByText("All other browsers have been signed out").waitFor()
    await page.evaluate("window.isTheSame = true")
    const hasToken = page.waitForResponse((response) => response.url().endsWith("/token") && response.ok())
    isChanged.resolve()
    await hasToken
    expect(await page.evaluate("window.isTheSame")).toBe(true)
    await password.getByText("All other browsers have been signed out").waitFor()
    await leave(page)
  })

  inAll("shows a new key once, with a copy button, and deletes it", async () => {
    const person = await newPerson()
    const page = await open(person, ACCOUNT, { permissions: ["clipboard-read", "clipboard-write"] })
    const keys = page.getByRole("region", { name: "API keys" })
    await keys.getByLabel("Name of the new key").fill("backup script")
    await page.keyboard.press("Enter")
    const key = (await keys.locator("code", { hasText: /^tide_\w{20,}$/ }).textContent()) ?? ""
    await keys.getByRole("button", { name: "Copy the key" }).click()
    await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe(key)
    const script = { headers: { authorization: `Bearer ${key}` } }
    expect((await fetch(`${app.origin}/api/files`, script)).status).toBe(200)

    await page.reload()
    await takenOver(page)
    await keys.getByText("backup script").first().waitFor()
    expect(await page.content()).not.toContain(key)
    await keys.getByRole("button", { name: "Delete backup script" }).click()
    await keys.getByText("Key deleted.").waitFor()
    expect((await fetch(`${app.origin}/api/files`, script)).status).toBe(401)
    await leave(page)
  })

  inAll("ends the session of another browser by keyboard alone", async () => {
    const person = await newPerson()
    const page = await open(person)
    const elsewhere = await open(await signIn(app, person))
    await page.reload()
    await takenOver(page)
    const button = page.getByRole("region", { name: "Signed in on" }).getByRole("button").first()
    await button.focus()
    await page.keyboard.press("Enter")
    await page.getByText("Browser signed out.").waitFor()
    await elsewhere.waitForURL("**/sign-in**")
    await leave(page, elsewhere)
  })

  inAll("downloads all data of the account", async () => {
    const page = await open(await newPerson())
    const begun = page.waitForEvent("download")
    await page.getByRole("link", { name: "Download everything" }).click()
    const download = await begun
    expect(download.suggestedFilename()).toMatch(/^Tideline \d{4}-\d\d-\d\d\.zip$/)
    expect(await download.failure()).toBeNull()
    await leave(page)
  })

  inAll("deletes the account, signs out and opens the home page, in other browsers too", async () => {
    const person = await newPerson()
    const page = await open(person)
    const elsewhere = await open(await signIn(app, person))
    await page.getByText("Delete my account").click()
    const danger = page.getByRole("region", { name: "Delete account" })
    await danger.getByLabel("Your password").fill(person.password)
    await holdResponse(page, () => elsewhere.waitForURL("**/sign-in**"))
    await danger.getByRole("button", { name: "Delete everything" }).click()
    await page.waitForURL(`${app.origin}/`)
    const account = await page.request.get(app.origin + ACCOUNT)
    expect(new URL(account.url()).pathname).toBe("/sign-in")
    await expect(signIn(app, person)).rejects.toThrow("401")
    await leave(page, elsewhere)
  })

  inAll("saves, creates keys and deletes without JavaScript", async () => {
    const person = await newPerson()
    const page = await open(person, ACCOUNT, { javaScriptEnabled: false })
    await page.getByLabel("Name", { exact: true }).fill("Without Script")
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await page.getByText("Name saved.").waitFor()
    await page
      .getByLabel("Picture")
      .setInputFiles({ name: "me.png", mimeType: "image/png", buffer: await image("png", [64, 64]) })
    await page.getByRole("button", { name: "Save picture" }).click()
    await page.getByText("Picture saved.").waitFor()
    const permissions = page.getByRole("group", { name: "Permissions" }).getByRole("checkbox")
    expect(await permissions.and(page.locator(":checked")).evaluateAll(namesOf)).toEqual(["files:read"])
    await page.getByLabel("Name of the new key").fill("plain")
    await page.getByRole("button", { name: "Create key" }).click()
    await page.locator("code", { hasText: /^tide_\w{20,}$/ }).waitFor()
    await page.getByText("Delete my account").click()
    await page
      .getByRole("region", { name: "Delete account" })
      .getByLabel("Your password")
      .fill(person.password)
    await page.getByRole("button", { name: "Delete everything" }).click()
    await page.waitForURL(`${app.origin}/`)
    await leave(page)
  })
})

describe("a change of email address", () => {
  inAll(
    "is requested, confirmed at both addresses, and shown in another open browser and the security log",
    async () => {
      const person = await newPerson()
      await sql`update auth.user set email_verified = true where email = ${person.email}`
      const next = `new-${person.email}`
      const page = await open(person)
      const elsewhere = await open(await signIn(app, person))
      const section = page.getByRole("region", { name: "Email address" })
      await section.getByText("Change email address").click()
      await section.getByLabel("New email address").fill(next)
      await section.getByLabel("Your password").fill("not this one")
      await section.getByRole("button", { name: "Email the links" }).click()
      await section.getByText("That is not your password.").waitFor()
      await section.getByLabel("Your password").fill(person.password)
      await section.getByRole("button", { name: "Email the links" }).click()
      await section.getByText("We've emailed both addresses.").waitFor()
      await section.getByText(`${person.email}, ${next}`).waitFor()
      await page.goto(await linkTo(next))
      await page.getByRole("button", { name: "Confirm" }).click()
      await page.getByRole("heading", { name: "One more confirmation" }).waitFor()
      await page.goto(await linkTo(person.email))
      await page.getByRole("button", { name: "Confirm" }).click()
      await page.getByRole("heading", { name: "Your email address is changed" }).waitFor()
      await elsewhere.getByRole("region", { name: "Profile" }).getByText(next).waitFor()
      await page.getByRole("link", { name: "To your account" }).click()
      await page.getByRole("link", { name: "Open the security log" }).click()
      await page.getByText(`Email address changed: ${next}`).waitFor()
      await leave(page, elsewhere)
    },
  )

  inAll("works without script, and either address stops it", async () => {
    const person = await newPerson()
    await sql`update auth.user set email_verified = true where email = ${person.email}`
    const next = `new-${person.email}`
    const page = await open(person, ACCOUNT, { javaScriptEnabled: false })
    const section = page.getByRole("region", { name: "Email address" })
    await section.getByText("Change email address").click()
    await section.getByLabel("New email address").fill(next)
    await section.getByLabel("Your password").fill(person.password)
    await page.keyboard.press("Enter")
    await section.getByText("We've emailed both addresses.").waitFor()
    await page.goto(await linkTo(person.email))
    await page.getByRole("button", { name: "Stop the change" }).click()
    await page.getByRole("heading", { name: "The change is stopped" }).waitFor()
    await page.goto(await linkTo(next))
    await page.getByRole("heading", { name: "This link is incomplete or has expired" }).waitFor()
    await leave(page)
  })
})

describe("in light and dark colours", () => {
  inAll("the account page has no accessibility violations and fits into 320 pixels", async () => {
    const person = await newPerson()
    await person.apiKey()
    await signIn(app, person)
    const page = await open(person, ACCOUNT)
    await page.getByText("Delete my account").click()
    await page.getByText("Change email address").click()
    expect(await faultsInEveryLook(page, [320])).toEqual([])
    await page.goto(`${app.origin}/dashboard/account/security`)
    expect(await faultsInEveryLook(page, [320])).toEqual([])
    await person(ACCOUNT, {
      method: "POST",
      body: new URLSearchParams({
        intent: "change-address",
        email: `new-${person.email}`,
        current: person.password,
      }),
    })
    await page.goto(await linkTo(`new-${person.email}`))
    expect(await faultsInEveryLook(page, [320])).toEqual([])
    await leave(page)
  })

  inAll("the operator's pages have no accessibility violations and fit into 320 pixels", async () => {
    const operator = await operatorWithWork()
    const page = await open(operator, "/admin")
    for (const path of sample(
      [
        "/admin",
        "/admin/people",
        "/admin/waitlist",
        "/admin/emails",
        "/admin/live",
        // It is loaded again every three seconds otherwise, also while it is looked at.
        "/admin/servers?updates=off",
        "/admin/history",
        "/admin/security",
      ],
      2,
    )) {
      await page.goto(app.origin + path)
      const careful = page.locator("summary").first()
      if ((await careful.count()) > 0) await careful.click()
      expect(await faultsInEveryLook(page, [320]), path).toEqual([])
    }
    await leave(page)
  })
})

describe("the operator's page", () => {
  inAll(
    "upgrades someone to Pro, and their open page shows the plan and its limits immediately",
    async () => {
      const operator = await operatorWithWork()
      const person = await newPerson()
      const theirs = await open(person)
      const plan = theirs.getByRole("region", { name: /Your plan/ })
      await plan.getByText("100 MB").waitFor()
      const page = await open(operator, "/admin", { javaScriptEnabled: false })
      await page.getByRole("link", { name: "People" }).click()
      await page.getByLabel("Email address").fill(person.email)
      await page.keyboard.press("Enter")
      await page.getByRole("button", { name: `Upgrade to Pro ${person.email}` }).click()
      await page.getByText(`Done: you changed the plan of ${person.email} from free to pro.`).waitFor()
      await plan.getByText("Pro", { exact: true }).waitFor()
      for (const figure of ["of 100 GB", "1 GB", "60 a minute", "6"])
        await plan.getByText(figure, { exact: true }).first().waitFor()

      await page.locator("summary", { hasText: "Sign out everywhere" }).click()
      await page.getByRole("button", { name: "Sign out everywhere" }).click()
      await page.getByText(`Done: you signed ${person.email} out everywhere.`).waitFor()
      await theirs.waitForURL("**/sign-in**")
      await leave(page, theirs)
    },
  )
})

/** In the email to one of the addresses of a change. */
async function linkTo(email: string): Promise<string> {
  const { text } = await findEmail(app, email, /new email address/)
  return /http\S*new-address\?token=[\w-]+/.exec(text)?.[0] ?? ""
}

let people = 0

/** Somebody who has finished onboarding. */
/**
 * Lets the server handle the page's next request, but delays the response, including its cookies,
 * until `until` resolves.
 */
async function holdResponse(page: Page, until: () => Promise<unknown>) {
  await page.route(
    /\/dashboard\/account\.data/,
    async (route) => {
      const request = route.request()
      const { cookie = "", "content-type": type = "" } = await request.allHeaders()
      const answer = await fetch(request.url(), {
        method: request.method(),
        headers: { cookie, "content-type": type, origin: app.origin },
        body: request.postData(),
      })
      const body = Buffer.from(await answer.arrayBuffer())
      await until()
      const headers = Object.fromEntries(answer.headers)
      headers["set-cookie"] = answer.headers.getSetCookie().join("\n")
      delete headers["content-encoding"]
      await route.fulfill({ status: answer.status, headers, body })
    },
    { times: 1 },
  )
}

async function newPerson(email = `ada-${++people}@example.org`): Promise<Person> {
  const person = await signUp(app, { name: "Ada Lovelace", email })
  await person("/onboarding")
  await sql`update users set onboarding_completed = true where email = ${email}`
  return person
}

let operator: Promise<Person> | undefined

/** An operator, with data on each of their pages. */
function operatorWithWork(): Promise<Person> {
  return (operator ??= makeOperator())
}

async function makeOperator() {
  const person = await newPerson("operator@example.org")
  await sql`update auth.user set email_verified = true, holder_confirmed = true where email = ${person.email}`
  await addSecondFactor(person, person.password)
  await sql`insert into waitlist (email, confirmed_at) values ('a-rather-long-address-of-somebody@waiting.example.org', 1)`
  await sql`insert into mail_outbox (kind, cause, recipient, message_id, subject, text, html, state, attempts,
        next_attempt_at, last_error)
      select 'reset-password', n, 'email-' || n || '@example.org', n, 'Words', '', '', 'parked', 30, 0,
        '550 5.1.1 The address is unknown to this server, and was refused for good.' from generate_series(1, 3) n`
  await person("/admin/waitlist", formFor(operatorOperations.invite, { email: "friend@example.org" }))
  return person
}

/** In a new browser. Anything its console reports fails the test. */
async function open(person: Person, path = ACCOUNT, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options })
  await giveCookies(context, person, app)
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  page.on("pageerror", (error) => complaints.push(`${page.url()}: ${error.message}`))
  await page.goto(app.origin + path)
  const hydrates = options.javaScriptEnabled !== false && !path.startsWith("/admin")
  if (hydrates) await takenOver(page)
  return page
}

async function leave(...pages: Page[]) {
  for (const page of pages) await page.context().close()
}

function namesOf(fields: (HTMLElement | SVGElement)[]) {
  return fields.map((field) => field.getAttribute("name"))
}
