import type { Browser, Page } from "playwright-core"
import postgres from "postgres"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import type { NewInvitation, SpaceSummary } from "#server/spaces/contract.ts"
import { post } from "../support/api.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { giveCookies, launchBrowser, takenOver } from "../support/browser.ts"
import { openGate, type Gate } from "../support/gate.ts"
import { image } from "../support/images.ts"
import { ada as adaLovelace, grace as graceHopper, signUp, type Person } from "../support/people.ts"

let gate: Gate
let app: TidelineApp
let browser: Browser
let sql: postgres.Sql
let ada: Person
let grace: Person
beforeAll(async () => {
  gate = await openGate()
  app = await startTideline({ SPACES: "on", APP_URL: gate.origin })
  gate.leadTo(app.port)
  sql = postgres(app.databaseUrl, { max: 1, onnotice: () => {} })
  browser = await launchBrowser()
  ada = await signUp(app, adaLovelace)
  grace = await signUp(app, graceHopper)
  for (const person of [ada, grace]) await person("/dashboard")
  await sql`update users set onboarding_completed = true`
  await sql`update auth.user set email_verified = true`
})
beforeEach(async () => {
  await sql`delete from spaces`
  await begin("Engines")
})
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
})
afterAll(async () => {
  await browser.close()
  await sql.end()
  await app.stop()
  await gate.close()
})

describe("the form of an operation, without JavaScript", () => {
  it("creates, invites, gives another role, hands over and leaves", async () => {
    const page = await open(ada, "/dashboard/spaces", { javaScriptEnabled: false })
    await page.getByLabel("Name of the new space").fill("Harbour")
    await page.getByRole("button", { name: "Create space" }).click()
    await page.waitForURL(/\/s\/harbour$/)

    await page.goto(`${app.origin}/s/harbour/members`)
    await page.getByRole("button", { name: "Create link" }).click()
    const link = await page.getByText(/\/join\//).innerText()
    await page.getByLabel("Email address").fill("alan@example.org")
    await page.getByRole("button", { name: "Send invitation" }).click()
    await page.getByText("Invited. The email is on its way.").waitFor()
    await page.getByRole("button", { name: "Revoke alan@example.org" }).click()
    await page.getByRole("button", { name: "Revoke alan@example.org" }).waitFor({ state: "detached" })

    expect((await grace(new URL(link).pathname, { method: "POST" })).status).toBe(303)
    await page.goto(`${app.origin}/s/harbour/members`)
    await page.getByRole("combobox", { name: "Role of Grace Hopper" }).selectOption("reader")
    await page.getByRole("button", { name: "Change Grace Hopper" }).click()
    await page.getByText("Role saved.").waitFor()
    expect(await roleOf("harbour", grace)).toBe("reader")
    await page.getByLabel("More about Grace Hopper").click()
    await page.getByRole("button", { name: "Make owner Grace Hopper" }).click()
    await page.getByRole("link", { name: "Leave…" }).click()
    await page.getByRole("button", { name: "Leave Harbour" }).click()
    await page.waitForURL(/\/dashboard\/spaces$/)
    expect(await roleOf("harbour", grace)).toBe("owner")
  })

  it("says at the form why it was refused, and shows again what was filled in", async () => {
    await begin("Pier")
    const page = await open(ada, "/s/engines/settings", { javaScriptEnabled: false })
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("Steam engines")
    await page.getByLabel("Web address, after /s/").fill("pier")
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await formWith(page, "Save")
      .getByRole("alert")
      .getByText("Another space already has the address pier.")
      .waitFor()
    expect(await page.getByRole("textbox", { name: "Name", exact: true }).inputValue()).toBe("Steam engines")
    expect(await page.getByRole("alert").count()).toBe(1)
  })

  it("says what is gone, although its form is gone as well", async () => {
    const [space] = await sql`select _id from spaces where slug = 'engines'`
    const invitation = { email: "alan@example.org", role: "editor" }
    await ada(`/api/spaces/${space?.["_id"]}/invitations`, post(invitation))
    const page = await open(ada, "/s/engines/members", { javaScriptEnabled: false })
    await sql`delete from space_invitations`
    await page.getByRole("button", { name: "Revoke alan@example.org" }).click()
    await page.getByRole("alert").getByText("There is no such invitation, or it is not yours.").waitFor()
  })

  it("says that a picture is too large", async () => {
    const page = await open(ada, "/s/engines/settings", { javaScriptEnabled: false })
    const buffer = Buffer.alloc(11 * 1024 * 1024)
    await page.locator("input[name=picture]").setInputFiles({ name: "a.png", mimeType: "image/png", buffer })
    await page.getByRole("button", { name: "Save picture" }).click()
    await page.getByRole("alert").first().waitFor()
  })
})

describe("the form of an operation, with JavaScript", () => {
  it("is a mutation: the page loads nothing, and says why it was refused", async () => {
    await begin("Pier")
    const page = await openLive(ada, "/s/engines/settings")
    const posted = postsOf(page)
    await page.getByLabel("Web address, after /s/").fill("pier")
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await formWith(page, "Save")
      .getByRole("alert")
      .getByText("Another space already has the address pier.")
      .waitFor()
    expect(await page.getByLabel("Web address, after /s/").inputValue()).toBe("pier")
    await page.getByLabel("Web address, after /s/").fill("steam")
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await page.waitForURL(/\/s\/steam\/settings$/)
    expect(await page.getByRole("alert").count()).toBe(0)
    expect(posted).toEqual([])
  })

  it("says at the field what is wrong with it", async () => {
    const page = await openLive(ada, "/s/engines/settings")
    const address = page.getByLabel("Web address, after /s/")
    await address.evaluate((field: HTMLInputElement) => field.removeAttribute("pattern"))
    await address.fill("Steam engines!")
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await formWith(page, "Save").getByRole("alert").waitFor()
    expect(await address.getAttribute("aria-invalid")).toBe("true")
    expect(await address.inputValue()).toBe("Steam engines!")
  })

  it("says that a picture was saved, beside the picture", async () => {
    const page = await openLive(ada, "/s/engines/settings")
    const buffer = await image("png", [8, 8])
    await page.locator("input[name=picture]").setInputFiles({ name: "a.png", mimeType: "image/png", buffer })
    await page.getByRole("button", { name: "Save picture" }).click()
    await page.getByRole("button", { name: "Remove picture" }).waitFor()
    await page.getByText("Picture saved.").waitFor()
    expect(await page.locator("input[name=picture]").inputValue()).toBe("")
  })

  it("leaves somebody where they went while it was performed", async () => {
    await join("engines", grace)
    const page = await openLive(ada, "/s/engines/members")
    const holder = postgres(app.databaseUrl, { max: 1 })
    await holder.begin(async (held) => {
      await held`lock table space_members in exclusive mode`
      await page.getByRole("combobox", { name: "Role of Grace Hopper" }).selectOption("reader")
      await expect.poll(() => sql`select from pg_locks where not granted`).not.toHaveLength(0)
      await page.getByRole("link", { name: "Settings", exact: true }).click()
      await page.waitForURL(/\/s\/engines\/settings$/)
    })
    await holder.end()
    await page.getByText("Role saved.").waitFor()
    expect(new URL(page.url()).pathname).toBe("/s/engines/settings")
  })

  it("is performed once, however often it is pressed", async () => {
    const page = await openLive(ada, "/dashboard/spaces")
    await page.getByLabel("Name of the new space").fill("Harbour")
    await page.getByRole("button", { name: "Create space" }).dblclick()
    await page.waitForURL(/\/s\/harbour$/)
    expect(await sql`select from spaces where name = 'Harbour'`).toHaveLength(1)
  })

  it("is performed once if the connection is lost in the middle, and the page hears of it afterwards", async () => {
    await join("engines", grace)
    const page = await openLive(ada, "/s/engines/members")
    const posted = postsOf(page)
    const holder = postgres(app.databaseUrl, { max: 1 })
    await holder.begin(async (held) => {
      await held`lock table space_members in exclusive mode`
      await page.getByLabel("More about Grace Hopper").click()
      await page.getByRole("button", { name: "Remove Grace Hopper" }).click()
      await expect.poll(() => sql`select from pg_locks where not granted`).not.toHaveLength(0)
      gate.shut()
      await page
        .getByRole("status")
        .getByText(/^Reconnecting/)
        .waitFor()
    })
    await holder.end()
    gate.open()
    await page.getByLabel("More about Grace Hopper").waitFor({ state: "detached" })
    expect(await roleOf("engines", grace)).toBeUndefined()
    expect(await page.getByRole("alert").count()).toBe(0)
    expect(posted).toEqual([])
  })

  it("is posted while the page has no connection, and once", async () => {
    await join("engines", grace)
    const page = await open(ada, "/s/engines/members", {}, /\/(shared-link|socket-link|token)-/)
    await takenOver(page)
    const posted = postsOf(page)
    await page.getByRole("combobox", { name: "Role of Grace Hopper" }).selectOption("reader")
    await page.getByText("Role saved.").waitFor()
    expect(await roleOf("engines", grace)).toBe("reader")
    expect(posted).toEqual(["/s/engines/members.data"])
  })

  it("is posted by the browser while the page's scripts load", async () => {
    const page = await open(ada, "/dashboard/spaces", {}, /\.js$/)
    await page.getByLabel("Name of the new space").fill("Harbour")
    await page.getByRole("button", { name: "Create space" }).click()
    await page.waitForURL(/\/s\/harbour$/)
  })
})

async function begin(name: string): Promise<SpaceSummary> {
  const response = await ada("/api/spaces", post({ name }))
  const { space } = (await response.json()) as { space: SpaceSummary }
  return space
}

async function join(slug: string, person: Person) {
  const [space] = await sql`select _id from spaces where slug = ${slug}`
  const made = await ada(`/api/spaces/${space?.["_id"]}/invitations`, post({ role: "editor" }))
  const { url } = (await made.json()) as NewInvitation
  await person("/api/spaces/join", post({ token: url.split("/").at(-1) }))
}

async function roleOf(slug: string, person: Person): Promise<unknown> {
  const [found] = await sql`
    select role from space_members where space_slug = ${slug} and member_email = ${person.email}`
  return found?.["role"]
}

/** A page that follows the database. */
async function openLive(person: Person, path: string): Promise<Page> {
  const page = await open(person, path)
  await takenOver(page)
  await sql`update spaces set name = 'Live engines' where slug = 'engines'`
  await page.getByText("Live engines").first().waitFor()
  return page
}

async function open(
  person: Person,
  path: string,
  options: { javaScriptEnabled?: boolean } = {},
  withheld?: RegExp,
): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
  await giveCookies(context, person, app)
  if (withheld) await context.route(withheld, (route) => route.abort())
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  await page.goto(app.origin + path)
  return page
}

function formWith(page: Page, button: string) {
  return page.locator("form").filter({ has: page.getByRole("button", { name: button, exact: true }) })
}

/** The paths to which the page posted. */
function postsOf(page: Page): string[] {
  const posted: string[] = []
  page.on("request", (request) => {
    const { pathname } = new URL(request.url())
    if (request.method() === "POST" && !pathname.startsWith("/api/realtime/")) posted.push(pathname)
  })
  return posted
}
