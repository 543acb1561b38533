import { decodeJwt } from "jose"
import { afterEach, beforeAll, describe, expect, test } from "vitest"
import { ReferenceClient } from "../../realtime/support/client.ts"
import { realtimeToken } from "../../support/live.ts"
import { ada, postJson, signIn, signUp, type Person } from "../../support/people.ts"
import { withTideline } from "../../support/with-tideline.ts"

let other: Person
let bystander: Person
const clients: ReferenceClient[] = []

const { app, sql } = withTideline()

beforeAll(async () => {
  other = await signUp(app, ada)
  bystander = await signUp(app, { name: "Ben", email: "ben@example.org" })
})
afterEach(() => {
  for (const client of clients.splice(0)) client.close()
})

async function connect(token: string) {
  const client = new ReferenceClient(app.origin.replace("http", "ws"), token)
  clients.push(client)
  await client.connect()
  const list = await client.follow("chat.listThreads", {})
  return { client, list }
}

async function expectEnd({ client, list }: Awaited<ReturnType<typeof connect>>) {
  await client.until(() => !client.connected, "the end of the connection")
  expect(client.goodbye).toMatchObject({ retryAfter: null })
  expect(list.state).toBe("revoked")
  await expect(client.connect()).rejects.toMatchObject({ code: "unauthorized" })
}

async function tokenOfKey(key: string) {
  const response = await fetch(`${app.origin}/api/realtime/token`, {
    headers: { authorization: `Bearer ${key}` },
  })
  return ((await response.json()) as { token: string }).token
}

/** The id of the session that a token was issued for. */
function sessionOf(token: string) {
  return String(decodeJwt(token)["sid"])
}

describe("a socket closes at the commit that ends its session", () => {
  test.each<[string, (person: Person, session: string) => Promise<unknown>]>([
    ["by signing out", (person) => postJson(person, "/api/auth/sign-out", {})],
    ["by SQL that deletes the row", (_, id) => sql`delete from auth.session where id = ${id}`],
    [
      "by SQL that moves its expiry forward",
      (_, id) => sql`update auth.session set expires_at = now() where id = ${id}`,
    ],
    [
      "by SQL that gives it another token",
      (_, id) => sql`update auth.session set token = 'another', expires_at = now() where id = ${id}`,
    ],
  ])("%s", async (_, end) => {
    const person = await signIn(app, ada)
    const token = await realtimeToken(person)
    const ends = await connect(token)
    const stays = await connect(await realtimeToken(bystander))
    await end(person, sessionOf(token))
    await expectEnd(ends)
    expect(stays.client.connected).toBe(true)
  })

  test("by SQL that empties the table", async () => {
    const grace = await signUp(app, { name: "Grace", email: "grace@example.org" })
    const ends = await connect(await realtimeToken(grace))
    await sql`truncate auth.session cascade`
    await expectEnd(ends)
    other = await signIn(app, ada)
  })

  test("by SQL that deletes the account, or the person's record", async () => {
    const [first, second] = [
      await signUp(app, { name: "Mary", email: "mary@example.org" }),
      await signUp(app, { name: "Joan", email: "joan@example.org" }),
    ]
    const account = await connect(await realtimeToken(first))
    const record = await connect(await realtimeToken(second))
    await sql`delete from auth."user" where email = ${first.email}`
    await expectEnd(account)
    await sql`delete from users where email = ${second.email}`
    await record.client.until(() => !record.client.connected, "the end of the connection")
    expect(record.client.goodbye).toMatchObject({ reason: "signed_out", retryAfter: null })
  })
})

test("a socket closes when its session expires, even if its token is valid for longer", async () => {
  const person = await signIn(app, ada)
  const token = await realtimeToken(person)
  // Without the trigger that announces a shortened session, the socket has only the clock to go by.
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`
    await tx`update auth.session set expires_at = now() + interval '4 seconds' where id = ${sessionOf(token)}`
  })
  await expectEnd(await connect(token))
})

describe("a socket opened with an API key closes at the commit that ends the key", () => {
  test.each<[string, (name: string) => Promise<unknown>]>([
    ["by deleting it", (name) => sql`delete from auth.apikey where start = ${name}`],
    ["by disabling it", (name) => sql`update auth.apikey set enabled = false where start = ${name}`],
    [
      "by moving its expiry forward",
      (name) => sql`update auth.apikey set expires_at = now() where start = ${name}`,
    ],
  ])("%s", async (_, end) => {
    const [key, another] = [await other.apiKey(), await other.apiKey()]
    const ends = await connect(await tokenOfKey(key))
    const stays = [await connect(await tokenOfKey(another)), await connect(await realtimeToken(other))]
    const [row] = await sql`select start from auth.apikey where starts_with(${key}, start)`
    await end(String(row?.["start"]))
    await expectEnd(ends)
    expect(stays.map(({ client }) => client.connected)).toEqual([true, true])
  })
})
