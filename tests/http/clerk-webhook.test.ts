import { createHmac } from "node:crypto"
import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { ISSUER, startClerk } from "../support/clerk.ts"
import { findEmail } from "../support/inbox.ts"
import { openLiveSocket } from "../support/live.ts"
import { openBrowser } from "../support/people.ts"

const SECRET = Buffer.from("a secret for webhooks in tests").toString("base64")

describe("Clerk's webhooks", () => {
  let clerk: Awaited<ReturnType<typeof startClerk>>
  let app: TidelineApp
  let sql: postgres.Sql
  beforeAll(async () => {
    clerk = await startClerk()
    app = await startTideline({
      ...clerk.settings,
      CLERK_WEBHOOK_SIGNING_SECRET: `whsec_${SECRET}`,
      JWT_ISSUER_DOMAIN: ISSUER,
    })
    sql = postgres(app.databaseUrl, { max: 1 })
  })
  afterAll(async () => {
    await sql?.end()
    await app?.stop()
    clerk?.close()
  })

  it("update a record's name, address and plan between visits, using Clerk's API and not the webhook's body", async () => {
    const { user } = await enter("changed")
    Object.assign(user, { email: "countess@example.org", name: ["Augusta", "King"], plan: "pro" })
    const late = { type: "user.updated", data: { id: user.id, first_name: "Somebody", last_name: "Else" } }
    expect((await send(late)).status).toBe(200)
    expect(await recordOf(user.id)).toMatchObject({
      email: "countess@example.org",
      name: "Augusta King",
      plan: "pro",
    })

    user.plan = "free"
    const ended = { type: "subscriptionItem.ended", data: { payer: { user_id: user.id } } }
    expect((await send(ended)).status).toBe(200)
    expect(await recordOf(user.id)).toMatchObject({ plan: "free" })
  })

  it("send an email about a plan change, in the person's language", async () => {
    const { user } = await enter("reader", { language: "de" })
    user.plan = "pro"
    const began = { type: "subscriptionItem.active", data: { payer: { user_id: user.id } } }
    expect((await send(began)).status).toBe(200)
    const { text } = await findEmail(app, user.email, /^Ihr Tarif bei Tideline hat sich geändert$/)
    expect(text).toContain("Ab jetzt haben Sie den Tarif Pro.")
  })

  it("delete everything of a person deleted at Clerk, immediately, and may arrive twice", async () => {
    const { user, browser, token } = await enter("deleted")
    await browser("/api/files?name=notes.txt", { method: "POST", body: "the analytical engine" })
    const socket = await openLiveSocket(app, await token())
    clerk.users.delete(user.id)
    const notice = { type: "user.deleted", data: { id: user.id, deleted: true } }
    expect((await send(notice)).status).toBe(200)
    await socket.until(({ name }) => name === "goodbye")
    expect(await recordOf(user.id)).toBeUndefined()
    expect(await sql`select 1 from files union all select 1 from blobs`).toHaveLength(0)
    expect((await send(notice)).status).toBe(200)
  })

  it("delete nothing if Clerk still knows the person, or does not confirm the deletion", async () => {
    const { user } = await enter("kept")
    expect((await send({ type: "user.deleted", data: { id: user.id, deleted: true } })).status).toBe(200)
    expect(await recordOf(user.id)).toBeDefined()
    // A key of another instance verifies nothing here.
    clerk.users.delete(user.id)
    expect((await send({ type: "user.updated", data: { id: user.id } })).status).toBe(200)
    expect(await recordOf(user.id)).toBeDefined()
  })

  it("create no record for someone who was never here, and ignore unknown events", async () => {
    clerk.users.set("user_new", { id: "user_new", email: "new@example.org", name: ["N", "N"], plan: "free" })
    expect((await send({ type: "user.created", data: { id: "user_new" } })).status).toBe(200)
    expect(await recordOf("user_new")).toBeUndefined()
    expect((await send({ type: "organization.created", data: { id: "org_1" } })).status).toBe(200)
  })

  it.each([
    ["without a signature", { "svix-signature": "" }],
    ["with another secret", { "svix-signature": "v1,bm90IHRoZSBzaWduYXR1cmU=" }],
    ["with another message's signature", { "svix-id": "msg_other" }],
    ["older than five minutes", {}, -301],
    // Not 301: a slow machine would take a second to send it, and then it is no longer too far in
    // the future.
    ["from the future", {}, 330],
  ])("are refused %s", async (_name, headers: Record<string, string>, shift = 0) => {
    const { user } = await enter("safe")
    const response = await send({ type: "user.deleted", data: { id: user.id } }, headers, shift)
    expect(response.status).toBe(401)
    expect(await response.json()).toEqual({
      error: expect.stringContaining("The webhook is not Clerk's"),
      reason: "webhook-foreign",
      values: { problem: expect.any(String) },
    })
    expect(await recordOf(user.id)).toBeDefined()
  })

  it("are refused if they are too large or not webhooks", async () => {
    const huge = { type: "user.deleted", data: { id: "x".repeat(300_000) } }
    expect((await send(huge)).status).toBe(413)
    expect((await fetch(`${app.origin}/api/webhooks/clerk`)).status).toBe(405)
  })

  /** Somebody who has used the application. */
  async function enter(name: string, cookies: Record<string, string> = {}) {
    const id = `user_${name}`
    const user = {
      id,
      email: `${name}@example.org`,
      name: ["Ada", "Lovelace"] as [string, string],
      plan: "free" as "free" | "pro",
    }
    clerk.users.set(id, user)
    const claims = { sub: id, sid: `sess_${name}`, v: 2, sts: "active", azp: app.origin, pla: "u:free" }
    const browser = openBrowser(app, { __session: await clerk.mint(claims), __client_uat: "1", ...cookies })
    expect((await browser("/api/files")).status).toBe(200)
    const token = async () =>
      ((await (await browser("/api/realtime/token")).json()) as { token: string }).token
    return { user, browser, token }
  }

  async function recordOf(clerkId: string) {
    const [row] = await sql`select email, name, plan from users where clerk_id = ${clerkId}`
    return row
  }

  /** As Svix signs (Standard Webhooks), `shift` seconds from now. */
  function send(event: object, headers: Record<string, string> = {}, shift = 0) {
    const body = JSON.stringify({ object: "event", ...event })
    const id = "msg_1"
    const timestamp = String(Math.floor(Date.now() / 1000) + shift)
    const signature = createHmac("sha256", Buffer.from(SECRET, "base64"))
      .update(`${id}.${timestamp}.${body}`)
      .digest("base64")
    return fetch(`${app.origin}/api/webhooks/clerk`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "svix-id": id,
        "svix-timestamp": timestamp,
        "svix-signature": `v1,${signature}`,
        ...headers,
      },
      body,
    })
  }
})

it("do not exist if Clerk is not the provider", async () => {
  const app = await startTideline()
  const response = await fetch(`${app.origin}/api/webhooks/clerk`, { method: "POST", body: "{}" })
  expect(response.status).toBe(404)
  await app.stop()
})
