import sharp from "sharp"
import { describe, expect, it } from "vitest"
import { OPERATION, VALUES } from "#server/operations/form-contract.ts"
import type { SpaceSummary } from "#server/spaces/contract.ts"
import { spaceOperations } from "#server/spaces/operations-contract.ts"
import { spacePageOperations } from "#server/spaces/page-operations-contract.ts"
import { accountPageOperations } from "#server/accounts/page-operations-contract.ts"
import { userOperations } from "#server/users/operations-contract.ts"
import { fieldsFor, formFor } from "../support/forms.ts"
import { inAll } from "../support/all.ts"
import { post } from "../support/api.ts"
import { startTideline } from "../support/app.ts"
import { startClerk } from "../support/clerk.ts"
import { image, pixelFlood } from "../support/images.ts"
import { openLiveSocket, realtimeToken } from "../support/live.ts"
import { openBrowser, signUp, type Person } from "../support/people.ts"
import { readZip } from "../support/zip.ts"
import { withTideline } from "../support/with-tideline.ts"

const ACCOUNT = "/dashboard/account"

const { app, sql, newPerson } = withTideline()

describe("a person's picture", () => {
  it("is stored as a small square, and shown to its owner only", async () => {
    const person = await newPerson()
    const saved = await send(person, await image("jpeg", [3000, 2000]))
    expect(saved).toMatchObject({ status: 200, text: expect.stringContaining("Picture saved.") })
    const address = await addressOf(person)
    expect(address).toMatch(`${app.origin}/dashboard/account/picture/`)
    expect(saved.text).toContain(`src="${address}"`)

    const shown = await person(address)
    expect(shown.status).toBe(200)
    expect(shown.headers.get("content-type")).toBe("image/webp")
    expect(shown.headers.get("cache-control")).toBe("private, max-age=31536000, immutable")
    expect(shown.headers.get("content-security-policy")).toContain("sandbox")
    expect(shown.headers.get("x-content-type-options")).toBe("nosniff")
    const bytes = Buffer.from(await shown.arrayBuffer())
    expect(await sharp(bytes).metadata()).toMatchObject({ format: "webp", width: 256, height: 256 })

    expect((await (await newPerson())(address)).status).toBe(404)
    expect((await openBrowser(app)(address)).status).toBe(302)
    expect((await person(address, { method: "POST" })).status).toBe(405)
    expect((await person(`${ACCOUNT}/picture/nonsense`)).status).toBe(404)
  })

  it("replaces the previous one, and can be removed, live in other tabs", async () => {
    const person = await newPerson()
    const [user] = await sql<{ clerk_id: string }[]>`select clerk_id from users where email = ${person.email}`
    const tab = await openLiveSocket(app, await realtimeToken(person))
    await tab.subscribe("users.getUserByClerkId", { clerkId: user?.clerk_id })
    const seen = (imageUrl: string | null) =>
      tab.until((event) => JSON.stringify(event).includes(`"imageUrl":${JSON.stringify(imageUrl)}`))

    await send(person, await image("png", [300, 300]))
    const first = await addressOf(person)
    await seen(first)
    await send(person, await image("webp", [20, 300]))
    const second = await addressOf(person)
    expect(second).not.toBe(first)
    await seen(second)
    expect((await person(first)).status).toBe(404)

    expect(await send(person, null)).toMatchObject({
      text: expect.stringContaining("Picture removed."),
    })
    expect(await addressOf(person)).toBe("null")
    expect((await person(second)).status).toBe(404)
    expect(await sql`select 1 from auth.picture where user_id = ${user?.clerk_id ?? ""}`).toHaveLength(0)
  })

  it("is stored at the provider, so that the sync keeps it", async () => {
    const person = await newPerson()
    await send(person, await image("avif", [64, 64]))
    const address = await addressOf(person)
    await sql`update users set image_url = null where email = ${person.email}`
    await sync(person, address)
    expect(await addressOf(person)).toBe(address)
  })

  it("is in the archive, and deleted with the account", async () => {
    const person = await newPerson()
    await send(person, await image("gif", [64, 64]))
    const archive = Buffer.from(await (await person(`${ACCOUNT}/export`)).arrayBuffer())
    expect(readZip(archive).map(([name]) => name)).toContain("picture.webp")
    const [account] = await sql<{ id: string }[]>`select id from auth.user where email = ${person.email}`
    const fields = new URLSearchParams({ intent: "delete-account", confirmation: person.password })
    expect((await person(ACCOUNT, { method: "POST", body: fields })).status).toBe(303)
    expect(await sql`select 1 from auth.picture where user_id = ${account?.id ?? ""}`).toHaveLength(0)
  })

  it.each([
    ["a text", Buffer.from("no picture at all")],
    ["an SVG", Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>")],
    ["an image that decompresses to 400 million pixels", pixelFlood(20_000)],
  ])("cannot be created from %s", async (_what, bytes) => {
    const person = await newPerson()
    expect(await send(person, bytes)).toMatchObject({
      status: 415,
      text: expect.stringContaining("be displayed. Choose a JPEG, PNG"),
    })
    expect(await addressOf(person)).toBe("null")
  })

  it("is refused above ten megabytes, and a missing one is reported too", async () => {
    const person = await newPerson()
    for (const size of [10_000_001, 30_000_000])
      expect((await send(person, Buffer.alloc(size))).text).toContain("Choose a picture of at most 10 MB.")
    expect(await send(person, Buffer.alloc(0))).toMatchObject({
      status: 400,
      text: expect.stringContaining("Choose a picture first."),
    })
  })

  it("is refused from another site", async () => {
    const person = await newPerson()
    const body = formWith({ intent: "save-picture" }, await image("png", [9, 9]))
    const forged = await person(ACCOUNT, {
      method: "POST",
      body,
      headers: { origin: "https://evil.example" },
    })
    expect(forged.status).toBeGreaterThanOrEqual(400)
    expect(await addressOf(person)).toBe("null")
  })

  it("can be chosen in the profile step too, which does not advance if it is refused", async () => {
    const person = await signUp(app, { name: "Ada", email: "newcomer@example.org" })
    await person("/onboarding", formFor(userOperations.finishOnboardingStep, { step: "welcome" }))
    expect(await (await person("/onboarding")).text()).toContain('type="file"')
    const fields = fieldsFor(accountPageOperations.finishProfile, { name: "Ada King" }, "/onboarding")
    const step = (picture: Buffer) =>
      person("/onboarding", { method: "POST", body: formWith(fields, picture) })
    const refused = await step(Buffer.from("no picture"))
    const page = await refused.text()
    expect([refused.status, page]).toEqual([415, expect.stringContaining("be displayed. Choose a JPEG, PNG")])
    expect(page).toMatch(/type="file"[^>]*aria-invalid="true"|aria-invalid="true"[^>]*type="file"/)
    expect((await step(await image("png", [80, 80]))).status).toBe(302)
    expect(await addressOf(person)).toContain("/dashboard/account/picture/")
    const [user] = await sql`select name, onboarding_step from users where email = ${person.email}`
    expect(user).toEqual({ name: "Ada King", onboarding_step: "first-steps" })
  })
})

describe("a space's picture", () => {
  it("is a small square that its members see live, and nobody who is removed", async () => {
    const { owner, member, space, tab } = await newSpace()
    const path = `/api/spaces/${space._id}/picture`
    expect((await member(path)).status).toBe(404)
    const put = await owner(path, { method: "PUT", body: new Uint8Array(await image("jpeg", [900, 600])) })
    expect(put.status, await put.text()).toBe(204)
    const [stored] = await sql`select picture_id from spaces where _id = ${space._id}`
    const id = String(stored?.["picture_id"])
    await tab.until((event) => JSON.stringify(event).includes(`"spacePictureId":"${id}"`))

    const shown = await member(`${path}?id=${id}`)
    expect(shown.headers.get("cache-control")).toBe("private, max-age=31536000, immutable")
    expect((await member(path)).headers.get("cache-control")).toBe("private, no-cache")
    const etag = shown.headers.get("etag") ?? ""
    expect((await member(path, { headers: { "if-none-match": etag } })).status).toBe(304)
    const bytes = Buffer.from(await shown.arrayBuffer())
    expect(await sharp(bytes).metadata()).toMatchObject({ format: "webp", width: 256, height: 256 })
    const page = await (await member(`/s/${space.slug}/members`)).text()
    expect(page).toContain(`src="${path}?id=${id}"`)

    expect((await member(path, { method: "DELETE" })).status).toBe(403)
    await sql`delete from space_members where space_id = ${space._id} and role = 'reader'`
    expect((await member(`${path}?id=${id}`)).status).toBe(404)
  })

  it("is chosen and removed on the settings page, and goes with the space", async () => {
    const { owner, space } = await newSpace()
    const act = async (body: FormData | URLSearchParams) => {
      const response = await owner(`/s/${space.slug}/settings`, { method: "POST", body })
      return [response.status, await response.text()]
    }
    const about = { spaceId: space._id }
    const save = { [OPERATION]: spacePageOperations.savePicture.name, [VALUES]: JSON.stringify(about) }
    const picture = await image("png", [80, 80])
    expect(await act(formWith(save, picture))).toEqual([200, expect.stringContaining("Picture saved.")])
    expect((await owner(`/api/spaces/${space._id}/picture`)).status).toBe(200)
    expect(await act(formWith(save, Buffer.from("no picture")))).toEqual([
      415,
      expect.stringContaining("be displayed. Choose a JPEG, PNG"),
    ])
    const [status] = await act(formFor(spaceOperations.removePicture, about).body)
    expect(status).toBe(200)
    expect((await owner(`/api/spaces/${space._id}/picture`)).status).toBe(404)
    await act(formWith(save, picture))
    await sql`delete from spaces where _id = ${space._id}`
    expect(await sql`select 1 from space_pictures where space_id = ${space._id}`).toHaveLength(0)
  })

  it("cannot be created from anything but an image of at most ten megabytes", async () => {
    const { owner, space } = await newSpace()
    for (const [body, status] of [
      [Buffer.from("no picture at all"), 415],
      [Buffer.alloc(10_000_001), 413],
    ] as const) {
      const answer = await owner(`/api/spaces/${space._id}/picture`, { method: "PUT", body })
      expect(answer.status, await answer.text()).toBe(status)
    }
    expect(await sql`select 1 from space_pictures where space_id = ${space._id}`).toHaveLength(0)
  })
})

describe("with Clerk as the provider", () => {
  inAll(
    "the picture is managed by Clerk: the profile step offers none, and the account page accepts none",
    async () => {
      const clerk = await startClerk()
      const withClerk = await startTideline({
        ...clerk.settings,
      })
      try {
        clerk.users.set("user_a", { id: "user_a", email: "a@example.org", name: ["A", "B"], plan: "free" })
        const claims = {
          sub: "user_a",
          sid: "sess_a",
          v: 2,
          sts: "active",
          azp: withClerk.origin,
          pla: "u:free",
        }
        const person = openBrowser(withClerk, { __session: await clerk.mint(claims), __client_uat: "1" })
        await person("/onboarding", formFor(userOperations.finishOnboardingStep, { step: "welcome" }))
        expect(await (await person("/onboarding")).text()).not.toContain('type="file"')
        await person("/onboarding", formFor(accountPageOperations.finishProfile, { name: "A" }))
        await person("/onboarding", formFor(userOperations.completeOnboarding, {}))
        const body = formWith({ intent: "save-picture" }, await image("png", [9, 9]))
        expect((await person(ACCOUNT, { method: "POST", body })).status).toBe(403)
      } finally {
        await withClerk.stop()
        clerk.close()
      }
    },
  )
})

/** A space with a reader, who follows their spaces. */
async function newSpace() {
  const [owner, member] = [await newPerson(), await newPerson()]
  const made = await owner("/api/spaces", post({ name: "Engines" }))
  const { space } = (await made.json()) as { space: SpaceSummary }
  await sql`
    insert into space_members (space_id, user_id, role)
    select ${space._id}, _id, 'reader' from users where email = ${member.email}`
  const tab = await openLiveSocket(app, await realtimeToken(member))
  await tab.subscribe("spaces.list", {})
  return { owner, member, space, tab }
}

/**
 * Through the form of the account page, as a browser without JavaScript sends it. Null removes the
 * picture.
 */
async function send(person: Person, picture: Buffer | null) {
  const body = picture
    ? formWith({ intent: "save-picture" }, picture)
    : new URLSearchParams({ intent: "remove-picture" })
  const response = await person(ACCOUNT, { method: "POST", body })
  return { status: response.status, text: await response.text() }
}

function formWith(fields: Record<string, string>, picture: Buffer): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set("picture", new File([new Uint8Array(picture)], picture.length > 0 ? "me.jpg" : ""))
  return form
}

async function addressOf(person: Person): Promise<string> {
  const [user] = await sql`select image_url from users where email = ${person.email}`
  return String(user?.["image_url"])
}

async function sync(person: Person, imageUrl: string) {
  const [user] = await sql`select clerk_id, email, name, plan from users where email = ${person.email}`
  const { clerk_id: clerkId, ...values } = user ?? {}
  const body = JSON.stringify({ clerkId, ...values, imageUrl })
  const answer = await person("/api/users/sync", {
    method: "POST",
    body,
    headers: { "content-type": "application/json" },
  })
  expect(answer.status).toBe(200)
}
