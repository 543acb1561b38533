import { beforeAll, describe, expect, it } from "vitest"
import type { NewInvitation, SpaceSummary } from "#server/spaces/contract.ts"
import { spaceOperations } from "#server/spaces/operations-contract.ts"
import { spacePageOperations } from "#server/spaces/page-operations-contract.ts"
import { userOperations } from "#server/users/operations-contract.ts"
import { submitForm } from "../support/forms.ts"
import { post } from "../support/api.ts"
import { formFor } from "../support/forms.ts"
import { findEmail } from "../support/inbox.ts"
import { ada as adaLovelace, grace as graceHopper, openBrowser, signUp } from "../support/people.ts"
import { withTideline } from "../support/with-tideline.ts"

const { app, sql, ada, grace } = withTideline({
  settings: { SPACES: "on" },
  people: { ada: adaLovelace, grace: graceHopper },
  onboarded: true,
})

beforeAll(async () => {
  await sql`update auth.user set email_verified = true where email = ${adaLovelace.email}`
})

describe("the HTTP API", () => {
  it("has a space from its creation to its restoring, with an API key", async () => {
    const authorization = `Bearer ${await ada.apiKey()}`
    const withKey = (path: string, init: RequestInit = {}) =>
      openBrowser(app)(path, { ...init, headers: { "content-type": "application/json", authorization } })
    const { space } = (await json(withKey("/api/spaces", post({ name: "By key" })), 201)) as One
    const path = `/api/spaces/${space._id}`
    expect(space).toMatchObject({ name: "By key", slug: "by-key", role: "owner" })
    expect(await json(withKey("/api/spaces"))).toMatchObject({ spaces: [{ _id: space._id }] })
    const changed = await json(
      withKey(path, { ...post({ name: "Renamed", slug: "re-named" }), method: "PATCH" }),
    )
    expect(changed).toMatchObject({ space: { name: "Renamed", slug: "re-named" } })
    expect((await withKey(path, { ...post({ slug: "No Slug" }), method: "PATCH" })).status).toBe(400)

    const link = (await json(withKey(`${path}/invitations`, post({ role: "reader" })), 201)) as NewInvitation
    expect(await json(grace("/api/spaces/join", post({ token: link.url.split("/").at(-1) })))).toMatchObject({
      space: { role: "reader" },
    })
    const { members } = (await json(grace(`${path}/members`))) as {
      members: { userId: string; role: string }[]
    }
    expect(members.map(({ role }) => role)).toEqual(["owner", "reader"])
    const member = `${path}/members/${members[1]!.userId}`
    expect((await withKey(member, { ...post({ role: "editor" }), method: "PATCH" })).status).toBe(204)
    expect((await withKey(`${path}/transfer`, post({ userId: members[1]!.userId }))).status).toBe(204)
    expect((await grace(`${path}/leave`, { method: "POST" })).status).toBe(409)
    expect((await grace(`${path}/transfer`, post({ userId: members[0]!.userId }))).status).toBe(204)
    expect(
      (await withKey(`/api/spaces/invitations/${link.invitation._id}`, { method: "DELETE" })).status,
    ).toBe(204)
    expect((await withKey(path, { method: "DELETE" })).status).toBe(204)
    expect((await grace(path)).status).toBe(404)
    expect((await withKey(`${path}/restore`, { method: "POST" })).status).toBe(200)
    expect((await grace(`${path}/leave`, { method: "POST" })).status).toBe(204)
    expect((await grace(path)).status).toBe(404)
  })
})

describe("an invitation by email", () => {
  it("leads somebody new through sign-up and onboarding into the space", async () => {
    const { space } = (await json(ada("/api/spaces", post({ name: "Voyage" })), 201)) as One
    const email = "new@example.org"
    await json(ada(`/api/spaces/${space._id}/invitations`, post({ role: "editor", email })), 201)
    const invited = await findEmail(app, email, /invited/i)
    const path = new URL(/https?:\/\/\S+\/join\/[\w-]+/.exec(invited.text)![0]).pathname

    const page = await openBrowser(app)(path)
    expect(page.headers.get("cache-control")).toContain("no-store")
    const html = await page.text()
    expect(html).toContain("You are invited to Voyage")
    expect(html).toContain(`/sign-up?redirect_url=${encodeURIComponent(path)}`)
    expect((await openBrowser(app)(path, { method: "POST" })).status).toBe(302)

    const newcomer = await signUp(app, { name: "New", email })
    const joined = await newcomer(path, { method: "POST" })
    expect(joined.headers.get("location")).toBe("/s/voyage")
    expect((await newcomer("/s/voyage")).headers.get("location")).toBe("/onboarding")
    await sql`update users set onboarding_step = 'first-steps' where email = ${email}`
    const completed = await submitForm(newcomer, "/onboarding", userOperations.completeOnboarding)
    expect(completed.headers.get("location")).toBe("/s/voyage")
    const members = await newcomer("/s/voyage/members")
    expect(await members.text()).toContain("Members of Voyage")
    // It works once.
    expect((await grace(path, { method: "POST" })).status).toBe(404)
  })

  it("is shown to the person on their page of spaces", async () => {
    const { space } = (await json(ada("/api/spaces", post({ name: "Harbour" })), 201)) as One
    await json(
      ada(`/api/spaces/${space._id}/invitations`, post({ role: "reader", email: graceHopper.email })),
      201,
    )
    await sql`update auth.user set email_verified = true where email = ${graceHopper.email}`
    const page = await grace("/dashboard/spaces")
    expect(await page.text()).toMatch(/Invitations for you[\s\S]*Harbour/)
  })
})

describe("the pages of a space", () => {
  it("work without JavaScript: create, invite by a link, rename, delete and restore", async () => {
    const next = "/s/:slug"
    const create = formFor(spaceOperations.create, {}, { name: "Plain forms" }, next)
    expect(await leadsTo(ada("/dashboard/spaces", create))).toBe("/s/plain-forms")
    const path = "/s/plain-forms/members"
    const spaceId = await idOf("plain-forms")
    const link = { role: "reader", days: "7", uses: "10" }
    const made = ada(path, formFor(spacePageOperations.makeLink, { spaceId }, link))
    expect(await textOf(made)).toMatch(/\/join\/[\w-]{27}/)
    const wrong = { role: "editor", email: "not an address" }
    const refused = await ada(path, formFor(spaceOperations.invite, { spaceId }, wrong))
    expect(refused.status).toBe(400)
    const shown = await refused.text()
    expect(shown).toContain('value="not an address"')
    expect(shown).toMatch(/aria-invalid="true"/)
    const rename = formFor(spaceOperations.change, { spaceId }, { name: "Plain", slug: "plain" }, next)
    expect(await leadsTo(ada(path, rename))).toBe("/s/plain")
    const list = "/dashboard/spaces"
    const remove = formFor(spaceOperations.remove, { spaceId }, {}, list)
    expect(await leadsTo(ada("/s/plain/members", remove))).toBe(list)
    expect(await textOf(ada(list))).toContain("Plain")
    const restore = formFor(spaceOperations.restore, { spaceId }, {}, next)
    expect(await leadsTo(ada(list, restore))).toBe("/s/plain")
  })

  it("say below a form why it was refused, and lead nowhere else", async () => {
    const { space } = (await json(ada("/api/spaces", post({ name: "Kept" })), 201)) as One
    const leave = formFor(spaceOperations.leave, { spaceId: space._id }, {}, "/dashboard/spaces")
    const refused = await ada("/s/kept/settings", leave)
    expect([refused.status, refused.headers.get("location")]).toEqual([409, null])
    const rename = { name: "Kept", slug: "kept" }
    for (const next of ["https://example.org/", "//example.org", "/\\example.org", "/sign-out"]) {
      const form = formFor(spaceOperations.change, { spaceId: space._id }, rename, next)
      expect((await ada("/s/kept/settings", form)).headers.get("location")).toBe("/dashboard")
    }
  })

  it.each([
    ["of an operation of another page", formFor({ name: "users.completeOnboarding" }, {})],
    ["of no operation", formFor({ name: "spaces.none" }, {})],
    [
      "whose values are no JSON",
      { method: "POST", body: new URLSearchParams({ $operation: "spaces.create", $values: "{" }) },
    ],
    ["whose values are no object", formFor(spaceOperations.create, [null], { name: "x" })],
    ["with a field of nobody", formFor(spaceOperations.create, {}, { name: "x", more: "y" })],
    ["with a text that cannot be stored", formFor(spaceOperations.create, { name: "\0" })],
  ])("refuse a form %s", async (_what, form) => {
    expect((await ada("/dashboard/spaces", form)).status).toBe(400)
  })
})

interface One {
  space: SpaceSummary
}

describe("the home and the settings of a space", () => {
  it("invite first while its owner is alone, and then show who is there and what is new", async () => {
    const { space } = (await json(ada("/api/spaces", post({ name: "Quayside" })), 201)) as One
    expect(await textOf(ada("/s/quayside"))).toContain("You are the only one here")
    const link = (await json(
      ada(`/api/spaces/${space._id}/invitations`, post({ role: "reader" })),
      201,
    )) as NewInvitation
    const joined = await json(grace("/api/spaces/join", post({ token: link.url.split("/").at(-1) })))
    expect(joined).toMatchObject({ space: { slug: "quayside", role: "reader" } })
    await ada(`/api/files?spaceId=${space._id}`, { method: "POST", body: formWith("tides.txt", 30) })
    await json(ada("/api/chat/threads", post({ title: "High water", spaceId: space._id })), 201)
    for (const person of [ada, grace]) {
      const home = await textOf(person("/s/quayside"))
      for (const text of ["2 members", "tides.txt", "High water"]) expect(home).toContain(text)
      expect(home).not.toContain("You are the only one here")
    }
    expect((await openBrowser(app)("/s/quayside")).status).toBe(302)
  })

  it("have name, picture and deletion for the owner, and leaving for everybody else", async () => {
    const owners = await textOf(ada("/s/quayside/settings"))
    for (const text of ["Name and address", "Delete the space"]) expect(owners).toContain(text)
    const readers = await textOf(grace("/s/quayside/settings"))
    expect(readers).toContain("Leave the space")
    expect(readers).not.toContain("Delete the space")
    expect(await textOf(ada("/s/quayside/members"))).not.toContain("Delete the space")
    const values = { spaceId: await idOf("quayside") }
    const form = formFor(spaceOperations.change, values, { name: "Taken", slug: "taken" })
    expect((await grace("/s/quayside/settings", form)).status).toBe(403)
  })
})

describe("the files page of a space", () => {
  it("shows what the space stores, and to its owner alone how much of their storage is left", async () => {
    const { space } = (await json(ada("/api/spaces", post({ name: "Holds" })), 201)) as One
    const link = (await json(
      ada(`/api/spaces/${space._id}/invitations`, post({ role: "editor" })),
      201,
    )) as NewInvitation
    await grace("/api/spaces/join", post({ token: link.url.split("/").at(-1) }))
    await ada("/api/files", { method: "POST", body: formWith("own.txt", 5000) })
    for (const page of ["files", "files/trash"]) {
      const owners = await textOf(ada(`/s/holds/${page}`))
      expect(owners).toContain("0 B in this space")
      expect(owners).toMatch(/995 MB|[\d.]+ [MG]B of your [\d.]+ [MG]B left/)
      expect(owners).not.toContain(" used")
      const members = await textOf(grace(`/s/holds/${page}`))
      expect(members).toContain("0 B in this space")
      expect(members).not.toContain("of your")
    }
    await grace(`/api/files?spaceId=${space._id}`, { method: "POST", body: formWith("shared.txt", 300) })
    for (const person of [ada, grace])
      expect(await textOf(person("/s/holds/files"))).toContain("300 B in this space")
  })
})

function formWith(name: string, size: number) {
  const form = new FormData()
  form.append("file", new Blob(["x".repeat(size)], { type: "text/plain" }), name)
  return form
}

/** What a reader sees, without the comments between texts. */
async function textOf(page: Promise<Response>): Promise<string> {
  const html = await (await page).text()
  return html.replaceAll(/<!--.*?-->|<script[^>]*>.*?<\/script>/gs, "").replaceAll(" ", " ")
}

async function leadsTo(answer: Promise<Response>): Promise<string | null> {
  return (await answer).headers.get("location")
}

async function idOf(slug: string): Promise<string> {
  const [found] = await sql`select _id from spaces where slug = ${slug}`
  return String(found?.["_id"])
}

async function json(answer: Promise<Response>, status = 200): Promise<unknown> {
  const response = await answer
  expect(response.status, response.url).toBe(status)
  return response.json()
}
