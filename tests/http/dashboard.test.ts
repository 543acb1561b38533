import { beforeAll, beforeEach, describe, expect, it } from "vitest"
import { accountPageOperations } from "#server/accounts/page-operations-contract.ts"
import { userOperations } from "#server/users/operations-contract.ts"
import { formFor, submitForm } from "../support/forms.ts"
import { findEmail } from "../support/inbox.ts"
import { openBrowser, postJson, signUp, type Person } from "../support/people.ts"
import { withTideline } from "../support/with-tideline.ts"

const { app, sql } = withTideline()

// All people sign up from one network, which has a limit.
beforeEach(() => sql`delete from auth.rate_limit`)

describe("while onboarding is incomplete", () => {
  let ada: Person
  beforeAll(async () => {
    ada = await newPerson("Ada Lovelace")
  })

  it.each(["/dashboard", "/dashboard/chat", "/dashboard/files"])(
    "%s redirects to /onboarding",
    async (path) => {
      const response = await ada(path)
      expect(response.status).toBe(302)
      expect(response.headers.get("location")).toBe("/onboarding")
      expect(await response.text()).toBe("")
    },
  )

  it.each(["/dashboard.data", "/dashboard/chat.data", "/dashboard/files.data"])(
    "%s, requested by an open page, redirects there too and carries no data",
    async (path) => {
      const response = await ada(path)
      const text = await response.text()
      expect(text).toContain("/onboarding")
      expect(text).not.toContain("quota")
    },
  )

  it("the record is created on the first visit, from the provider's values", async () => {
    expect(await recordOf(ada)).toMatchObject({
      email: ada.email,
      name: "Ada Lovelace",
      plan: "free",
      onboarding_completed: null,
    })
  })
})

describe("onboarding, by forms alone", () => {
  it("goes from the welcome through the name and the first steps to the dashboard", async () => {
    const ada = await newPerson("A.")
    expect(await headingOf(ada, "/onboarding")).toBe("Welcome aboard, A.")

    // She has said her name, and can go back to it.
    expect(await submit(ada, accountPageOperations.finishWelcome)).toBe("/onboarding")
    expect(await headingOf(ada, "/onboarding")).toBe("Try it out")
    expect(await submit(ada, userOperations.reopenOnboardingStep)).toBe("/onboarding")
    expect(await headingOf(ada, "/onboarding")).toBe("What should we call you?")

    expect(await submit(ada, accountPageOperations.finishProfile, { name: "  Ada   Lovelace " })).toBe(
      "/onboarding",
    )
    expect(await headingOf(ada, "/onboarding")).toBe("Try it out")
    expect(await recordOf(ada)).toMatchObject({ name: "Ada Lovelace", onboarding_step: "first-steps" })

    expect(await submit(ada, userOperations.completeOnboarding)).toBe("/dashboard")
    expect(await headingOf(ada, "/dashboard")).toBe("Welcome, Ada")
    expect(await recordOf(ada)).toMatchObject({ onboarding_completed: true, onboarding_step: "done" })
  })

  it("continues on another device where it was left", async () => {
    const ada = await newPerson("Ada")
    await submit(ada, accountPageOperations.finishWelcome)
    const phone = openBrowser(app)
    await postJson(phone, "/api/auth/sign-in/email", { email: ada.email, password: ada.password })
    expect(await headingOf(phone, "/onboarding")).toBe("Try it out")
  })

  it("says what is wrong with a name, keeps what was typed, and stays on the step", async () => {
    const ada = await newPerson("Ada")
    await submit(ada, accountPageOperations.finishWelcome)
    await submit(ada, userOperations.reopenOnboardingStep)
    const refused = await post(ada, accountPageOperations.finishProfile, { name: "   " })
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain("Enter your name.")
    const long = "x".repeat(101)
    const tooLong = await (await post(ada, accountPageOperations.finishProfile, { name: long })).text()
    expect(tooLong).toContain("A name can have up to 100 characters.")
    expect(tooLong).toContain(`value="${long}"`)
    expect(await recordOf(ada)).toMatchObject({ name: "Ada", onboarding_step: "profile" })
  })

  it("refuses an unknown form", async () => {
    const ada = await newPerson("Ada")
    const form = formFor({ name: "users.skipOnboarding" }, {})
    expect((await ada("/onboarding", form)).status).toBe(400)
    expect(await headingOf(ada, "/onboarding")).toBe("Welcome aboard, Ada")
  })

  it("cannot be skipped", async () => {
    const ada = await newPerson("Ada")
    await ada("/onboarding", formFor(userOperations.completeOnboarding, {}, {}, "/dashboard"))
    expect((await ada("/dashboard")).headers.get("location")).toBe("/onboarding")
  })

  it("goes back to the name", async () => {
    const ada = await newPerson("Ada")
    await submit(ada, accountPageOperations.finishWelcome)
    await submit(ada, userOperations.reopenOnboardingStep)
    expect(await headingOf(ada, "/onboarding")).toBe("What should we call you?")
  })

  it("passes the first message on to the chat", async () => {
    const ada = await newPerson("Ada")
    await submit(ada, accountPageOperations.finishWelcome)
    const question = "What is 1 & 1?"
    expect(await submit(ada, accountPageOperations.askFirst, { question })).toBe(
      "/dashboard/chat?question=What%20is%201%20%26%201%3F",
    )
  })

  it("passes a long first message on to the chat, in any script", async () => {
    const ada = await newPerson("Ada")
    await submit(ada, accountPageOperations.finishWelcome)
    const question = "潮".repeat(1500)
    expect(await submit(ada, accountPageOperations.askFirst, { question })).toBe(
      `/dashboard/chat?question=${encodeURIComponent(question)}`,
    )
  })

  it("is not shown again once completed", async () => {
    const ada = await onboarded("Ada")
    const response = await ada("/onboarding")
    expect([response.status, response.headers.get("location")]).toEqual([302, "/dashboard"])
  })

  it("ends with one welcome email, even if two tabs complete it", async () => {
    const ada = await newPerson("Ada Lovelace")
    await submit(ada, accountPageOperations.finishWelcome)
    const form = formFor(userOperations.completeOnboarding, {}, {}, "/dashboard")
    await Promise.all([ada("/onboarding", form), ada("/onboarding", form)])
    expect((await findEmail(app, ada.email, /^Welcome/)).subject).toBe("Welcome to Tideline")
    const emails = await sql`
      select 1 from mail_outbox where recipient = ${ada.email} and kind = 'welcome'`
    expect(emails).toHaveLength(1)
  })
})

describe("the dashboard", () => {
  it("shows the provider's plan after the sync wrote it", async () => {
    const ada = await onboarded("Ada")
    expect(await textOf(ada, "/dashboard")).not.toContain(">Pro<")
    await sql`update auth."user" set plan = 'pro' where email = ${ada.email}`
    expect((await sync(ada, { plan: "pro" })).status).toBe(200)
    expect(await textOf(ada, "/dashboard")).toContain(">Pro<")
  })

  it("offers the first steps until they are done, and lists the latest items", async () => {
    const ada = await onboarded("Ada")
    const before = await textOf(ada, "/dashboard")
    expect(before).toContain("Getting started")
    expect(before).not.toContain("No files yet")
    expect(before).not.toContain("No conversations yet")

    await ada("/api/files?name=tides.txt", { method: "POST", body: "high water 06:12" })
    const { thread } = (await (await postJson(ada, "/api/chat/threads", { title: "On tides" })).json()) as {
      thread: { _id: string }
    }
    const after = await textOf(ada, "/dashboard")
    expect(after).not.toContain("Getting started")
    expect(after).toContain("tides.txt")
    expect(after).toContain("On tides")
    expect(after).toContain(`href="/dashboard/chat/${thread._id}"`)
  })

  it("refuses a list of files that begins nowhere", async () => {
    const refused = await (await onboarded("Ada"))("/dashboard/files?cursor=nonsense")
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("be loaded")])
  })

  it("shows nobody else's data", async () => {
    const grace = await onboarded("Grace")
    await grace("/api/files?name=secret-plans.txt", { method: "POST", body: "…" })
    await postJson(grace, "/api/chat/threads", { title: "Private matters" })
    const ada = await onboarded("Ada")
    const page = await textOf(ada, "/dashboard")
    expect(page).not.toContain("secret-plans.txt")
    expect(page).not.toContain("Private matters")
  })

  it("escapes a name that looks like markup", async () => {
    const ada = await onboarded('<img src=x onerror="alert(1)">')
    const page = await textOf(ada, "/dashboard")
    expect(page).not.toContain("<img src=x")
    expect(page).toContain("&lt;img")
  })
})

describe("the sync of an open page", () => {
  it("returns the current record", async () => {
    const ada = await newPerson("Ada")
    const response = await sync(ada, { name: "Ada Lovelace", imageUrl: "https://example.org/ada.png" })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      clerkId: await idOf(ada),
      name: "Ada Lovelace",
      imageUrl: "https://example.org/ada.png",
      plan: "free",
    })
  })

  it.each([
    ["another person's id", { clerkId: "somebody-else" }],
    ["a plan that the provider does not confirm", { plan: "pro" }],
    ["an email that the provider does not confirm", { email: "queen@example.org" }],
  ])("refuses %s", async (_what, claim) => {
    const ada = await newPerson("Ada")
    await ada("/onboarding")
    const before = await recordOf(ada)
    expect((await sync(ada, claim)).status).toBe(403)
    expect(await recordOf(ada)).toEqual(before)
  })

  it.each([
    ["no JSON", "{"],
    ["a value that is not an object", "[]"],
    ["an unknown plan", { plan: "gold" }],
    ["a picture that is not a web URL", { imageUrl: "javascript:alert(1)" }],
    ["a picture with a control character in its URL", { imageUrl: "https://example.org/\na.png" }],
    ["a picture with a password in its URL", { imageUrl: "https://a:b@example.org/a.png" }],
    ["a name too long for the form", { name: "x".repeat(101) }],
    ["a blank name", { name: " " }],
    ["a name with a control character", { name: "A\u0000da" }],
  ])("returns 400 for %s", async (_what, claim) => {
    const ada = await newPerson("Ada")
    const response = typeof claim === "string" ? await postText(ada, claim) : await sync(ada, claim)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: expect.any(String) })
  })

  it("returns 401 to a visitor, and 405 for anything but POST", async () => {
    expect((await postText(openBrowser(app), "{}")).status).toBe(401)
    const ada = await newPerson("Ada")
    const response = await ada("/api/users/sync")
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"])
  })

  it("returns 413 for more than 256 KB", async () => {
    const ada = await newPerson("Ada")
    expect((await postText(ada, JSON.stringify({ name: "x".repeat(256 * 1024) }))).status).toBe(413)
  })
})

let people = 0

function newPerson(name: string): Promise<Person> {
  people += 1
  return signUp(app, { name, email: `person-${people}@example.org` })
}

async function onboarded(name: string): Promise<Person> {
  const person = await newPerson(name)
  await submit(person, accountPageOperations.finishWelcome)
  await submit(person, userOperations.completeOnboarding)
  return person
}

type Browser = (address: string, init?: RequestInit) => Promise<Response>

function post(browser: Browser, operation: { name: string }, fields?: Record<string, string>) {
  return submitForm(browser, "/onboarding", operation, fields)
}

/** The form's action. */
async function submit(browser: Browser, operation: { name: string }, fields?: Record<string, string>) {
  const response = await post(browser, operation, fields)
  return response.headers.get("location")
}

async function textOf(browser: Browser, path: string) {
  const response = await browser(path)
  expect(response.status).toBe(200)
  return response.text()
}

async function headingOf(browser: Browser, path: string) {
  return /<h1[^>]*>(.*?)<\/h1>/.exec(await textOf(browser, path))?.[1]
}

async function sync(person: Person, claim: Record<string, string>) {
  const truth = { clerkId: await idOf(person), email: person.email, name: "Ada", plan: "free" }
  return postText(person, JSON.stringify({ ...truth, ...claim }))
}

function postText(browser: Browser, body: string) {
  const headers = { "content-type": "application/json" }
  return browser("/api/users/sync", { method: "POST", headers, body })
}

async function idOf({ email }: Person): Promise<string> {
  const [row] = await sql<{ id: string }[]>`select id from auth."user" where email = ${email}`
  return row?.id ?? ""
}

async function recordOf({ email }: Person) {
  const [row] = await sql`select * from users where email = ${email}`
  return row
}
