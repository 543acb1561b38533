import { describe, expect, it } from "vitest"
import { userOperations } from "#server/users/operations-contract.ts"
import { formFor } from "../support/forms.ts"
import { runBuiltCommand } from "../support/commands.ts"
import { findEmail } from "../support/inbox.ts"
import { openBrowser, postJson } from "../support/people.ts"
import { withTideline } from "../support/with-tideline.ts"

type Visitor = ReturnType<typeof asking>

const PASSWORD = "an engine of brass"

const { app, sql } = withTideline({ settings: { EMAIL_VERIFICATION: "required" } })

describe("a person whose browser asks for German", () => {
  it("receives every email about their account in German, no matter who causes it", async () => {
    const browser = asking("de-AT,de;q=0.9,en;q=0.8")
    const ada = { name: "Ada", email: "ada@example.org", password: PASSWORD }
    await browser("/sign-up", form(ada))
    await confirm(browser, ada.email, /^Bestätigen Sie Ihre E-Mail-Adresse für Tideline$/)
    await browser("/sign-in", form(ada))

    await browser("/onboarding")
    await sql`update users set onboarding_step = 'first-steps' where email = ${ada.email}`
    await browser("/onboarding", formFor(userOperations.completeOnboarding, {}))
    await findEmail(app, ada.email, /^Willkommen bei Tideline$/)

    await operate("user", "plan", ada.email, "pro")
    const told = await findEmail(app, ada.email, /^Ihr Tarif bei Tideline hat sich geändert$/)
    expect(told.text).toContain("Ab jetzt haben Sie den Tarif Pro.")

    const other = asking("en")
    await other("/sign-up", form(ada))
    await findEmail(app, ada.email, /^Sie haben schon ein Konto bei Tideline$/)
    await other("/sign-in/forgot-password", form(ada))
    await findEmail(app, ada.email, /^Ihr Passwort für Tideline zurücksetzen$/)

    await browser("/dashboard/account", form({ intent: "delete-account", confirmation: PASSWORD }))
    await findEmail(app, ada.email, /^Ihr Konto bei Tideline ist gelöscht$/)
  })

  it("receives it in the language of the request, whatever the address's owner reads", async () => {
    const german = await enter("known@example.org", asking("de"))
    await german("/onboarding")
    expect(await languageOf("known@example.org")).toBe("de")
    for (const path of ["/sign-up", "/sign-in", "/sign-in/forgot-password"]) {
      const [known, unknown] = await Promise.all(
        ["known@example.org", `unknown${path.replaceAll("/", "-")}@example.org`].map(async (email) => {
          const asked = { name: "Eve", email, password: "not the password" }
          const answer = await openBrowser(app)(path, {
            ...form(asked),
            headers: { "accept-language": "en" },
          })
          const page = (await answer.text()).replaceAll(email, "")
          return [answer.status, answer.headers.get("location"), /<html[^>]* lang="(\w+)"/.exec(page)?.[1]]
        }),
      )
      expect(known).toEqual(unknown)
      expect(known?.[2] ?? "en").toBe("en")
    }
  })

  it("receives German emails before seeing a page, such as a password reset link", async () => {
    await operate("user", "create", "early@example.org", "Early")
    await asking("de")("/sign-in/forgot-password", form({ email: "early@example.org" }))
    await findEmail(app, "early@example.org", /^Ihr Passwort für Tideline zurücksetzen$/)
  })
})

describe("the language of a record", () => {
  it("is that of the first page, and is not changed by another browser's language unless chosen", async () => {
    const browser = await enter("first@example.org", asking("de"))
    await browser("/onboarding")
    expect(await languageOf("first@example.org")).toBe("de")
    const other = await enter("first@example.org", asking("en"))
    await other("/onboarding")
    expect(await languageOf("first@example.org")).toBe("de")
  })

  it("is the one the person chooses, signed in or before", async () => {
    const browser = await enter("chooser@example.org", asking("de"))
    await browser("/onboarding")
    await browser("/language", form({ language: "en", from: "/pricing" }))
    expect(await languageOf("chooser@example.org")).toBe("en")

    const visitor = asking("en")
    await visitor("/language", form({ language: "de", from: "/" }))
    expect(await languageOf("chooser@example.org")).toBe("en")
    await enter("chooser@example.org", visitor)
    await visitor("/onboarding")
    expect(await languageOf("chooser@example.org")).toBe("de")
  })

  it("is not set by programs", async () => {
    const browser = await enter("script@example.org", asking("de"))
    const made = await postJson(browser, "/api/auth/api-key/create", { name: "a script" })
    const { key } = (await made.json()) as { key: string }
    const headers = { authorization: `Bearer ${key}`, cookie: "language=en", "accept-language": "en" }
    expect((await fetch(`${app.origin}/api/files`, { headers })).status).toBe(200)
    expect(await languageOf("script@example.org")).toBeNull()
    await browser("/onboarding")
    expect(await languageOf("script@example.org")).toBe("de")
  })

  it("leaves POST /api/email in English", async () => {
    const browser = await enter("api@example.org", asking("de"))
    await browser("/onboarding")
    expect(await languageOf("api@example.org")).toBe("de")
    expect((await postJson(browser, "/api/email", { template: "welcome", name: "Ada" })).status).toBe(200)
    expect((await findEmail(app, "api@example.org", /Welcome to Tideline/)).text).toContain(
      "Welcome aboard, Ada",
    )
  })
})

describe("the waitlist sends email", () => {
  it("in the language of the person's request, also when they are invited later", async () => {
    for (const [email, language, confirmation, invitation] of [
      [
        "anna@example.org",
        "de",
        /^Bestätigen Sie Ihren Platz auf der Warteliste/,
        /^Bei Tideline ist ein Platz/,
      ],
      ["anne@example.org", "en", /^Confirm your place on the Tideline waitlist$/, /^There is room for you/],
    ] as const) {
      const browser = asking(language)
      await browser("/waitlist", form({ email }))
      await findEmail(app, email, confirmation)
      await operate("waitlist", "invite", email)
      await findEmail(app, email, invitation)
    }
  })

  it("in the language of the person who confirms it, even if someone else asked in another", async () => {
    await asking("de")("/waitlist", form({ email: "typed@example.org" }))
    const { text } = await findEmail(app, "typed@example.org", /Warteliste/)
    const link = /http\S+\/waitlist\/confirm\S+/.exec(text)?.[0] ?? ""
    expect((await asking("en")(link, { method: "POST" })).status).toBe(302)
    await operate("waitlist", "invite", "typed@example.org")
    await findEmail(app, "typed@example.org", /^There is room for you/)
  })

  it("in English to an address that the operator added", async () => {
    await operate("waitlist", "invite", "nobody-asked@example.org")
    await findEmail(app, "nobody-asked@example.org", /^There is room for you/)
  })
})

/** A browser that prefers these languages. */
function asking(acceptLanguage: string) {
  const browser = openBrowser(app)
  return (address: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers)
    headers.set("accept-language", acceptLanguage)
    return browser(address, { ...init, headers })
  }
}

/**
 * Signs somebody in, with a new account if they have none, and confirms their email address. Opens
 * no page.
 */
async function enter(email: string, browser: Visitor): Promise<Visitor> {
  const account = { name: "Somebody", email, password: PASSWORD }
  const [known] = await sql`select 1 from auth."user" where email = ${email}`
  if (!known) {
    await postJson(browser, "/api/auth/sign-up/email", account)
    await sql`update auth."user" set email_verified = true where email = ${email}`
  }
  const { status } = await postJson(browser, "/api/auth/sign-in/email", { email, password: PASSWORD })
  expect(status).toBe(200)
  return browser
}

async function confirm(browser: Visitor, email: string, subject: RegExp) {
  const { text } = await findEmail(app, email, subject)
  await browser(/http:\S+sign-up\/confirm\S+/.exec(text)?.[0] ?? "")
}

async function languageOf(email: string): Promise<string | null> {
  const [row] = await sql<{ language: string | null }[]>`select language from users where email = ${email}`
  if (!row) throw new Error(`${email} has no record.`)
  return row.language
}

function form(fields: Record<string, string>): RequestInit {
  return { method: "POST", body: new URLSearchParams(fields), headers: { accept: "text/html" } }
}

/** Runs an operator's command beside the running server. */
async function operate(command: "user" | "waitlist", ...words: string[]) {
  const { code, output } = await runBuiltCommand(command, words, {
    folder: app.dataDir,
    env: { DATABASE_URL: app.databaseUrl, APP_URL: app.origin },
  })
  expect(code, output).toBe(0)
}
