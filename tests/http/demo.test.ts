import { expect, it, onTestFinished } from "vitest"
import type { Members } from "#live/contract"
import { startTideline } from "../support/app.ts"
import { openLiveSocket, realtimeToken } from "../support/live.ts"
import { ada, signUp } from "../support/people.ts"
import { withTideline } from "../support/with-tideline.ts"

interface Boat {
  name: string
  state: string
  lamp: boolean
}

const { app, sql } = withTideline()

it("the boats are streamed to every visitor, and again when someone moves one", async () => {
  const looker = await look()
  expect((await looker.next()).map(({ name }) => name)).toEqual([
    "Petrel",
    "Fulmar",
    "Grey Seal",
    "Turnstone",
  ])
  expect((await post({ boat: "Fulmar", state: "coming in" })).status).toBe(204)
  expect(await looker.until("Fulmar")).toMatchObject({ state: "coming in" })
  await looker.leave()
})

it("the demo shows what is written with psql", async () => {
  const looker = await look()
  await looker.next()
  await sql`update demo_boats set lamp = true where name = 'Grey Seal'`
  expect(await looker.until("Grey Seal")).toMatchObject({ lamp: true })
  await looker.leave()
})

it("every visitor learns how many connections follow the boats, over sockets too", async () => {
  const hers = await openLiveSocket(app, await realtimeToken(await signUp(app, ada)))
  await hers.subscribe("demo.listBoats", {})
  expect(await hers.join("demo.audience")).toMatchObject({ value: { count: 1 } })
  const lookers = [await look(), await look()]
  await lookers[1]!.untilAudience(3)
  await hers.until(({ name, event }) => name === "members" && (event as Members).count === 3)
  await lookers[0]!.leave()
  await lookers[1]!.untilAudience(2)
  hers.close()
  await lookers[1]!.untilAudience(1)
  await lookers[1]!.leave()
})

it("the script that starts the demo runs when the page is there, also from the cache", async () => {
  const html = await (await fetch(app.origin)).text()
  const tag = /<script type="module"[^>]*enhance[^>]*>/.exec(html)
  expect(tag?.index).toBeGreaterThan(html.indexOf("data-demo="))
  expect(tag?.[0]).not.toContain("async")
})

it("a press without scripts returns the page with the change in it", async () => {
  const moved = await post({ boat: "Turnstone", state: "moored" }, { accept: "text/html" })
  expect(moved.status).toBe(303)
  const location = moved.headers.get("location") ?? ""
  expect(location).toBe("/?moved#live")
  const html = await (await fetch(new URL(location, app.origin))).text()
  expect(html).toContain('data-boat="Turnstone" data-state="moored"')
})

it.each([
  { boat: "Black Pearl", state: "moored" },
  { boat: "Petrel", state: "on fire" },
  { boat: "Petrel", lamp: "<script>" },
  {},
])("a text outside of the demo's lists is refused: %j", async (fields) => {
  const response = await post(fields)
  expect(response.status).toBe(400)
  expect(await response.json()).toEqual({ error: "There is no such boat in this harbour." })
})

it("another site cannot move a boat", async () => {
  const response = await post({ boat: "Petrel", state: "at sea" }, { origin: "https://evil.example" })
  expect(response.status).toBe(403)
})

it("its endpoint redirects a browser to the page", async () => {
  const response = await fetch(`${app.origin}/demo`, { redirect: "manual" })
  expect(response.headers.get("location")).toBe("/#live")
})

it("an address may hold forty streams, and closed ones do not count", async () => {
  const lookers = await Promise.all(Array.from({ length: 40 }, () => look()))
  await Promise.all(lookers.map(({ next }) => next()))
  const refused = await open()
  expect(refused.status).toBe(503)
  await refused.body?.cancel()
  await Promise.all(lookers.map(({ leave }) => leave()))
  await expect
    .poll(async () => {
      const again = await open()
      await again.body?.cancel()
      return again.status
    })
    .toBe(200)
})

it("an address that moves boats more than forty times in a minute is refused", async () => {
  const statuses: number[] = []
  for (let times = 0; times < 41; times++) {
    statuses.push((await post({ boat: "Fulmar", state: times % 2 ? "moored" : "at sea" })).status)
  }
  expect(statuses.at(-1)).toBe(429)
})

it("the streams end when the process is told to stop", async () => {
  const looker = await look()
  await looker.next()
  process.kill(app.pid, "SIGTERM")
  expect(await looker.ended()).toBe(true)
  expect(await app.exited).toBe(0)
})

function open() {
  return fetch(`${app.origin}/demo`, { headers: { accept: "text/event-stream" } })
}

/** A stream of the boats, as a page receives it. */
it("the demo is absent if the operator switched it off, without affecting anything else", async () => {
  const without = await startTideline({ DEMO: "off", DATABASE_URL: app.databaseUrl })
  onTestFinished(() => without.stop())
  const page = await fetch(without.origin)
  expect(page.status).toBe(200)
  expect(await page.text()).not.toContain("data-boat")
  const before = await sql`select * from demo_boats order by name`
  const looked = await fetch(`${without.origin}/demo`, { headers: { accept: "text/event-stream" } })
  const moved = await fetch(`${without.origin}/demo`, {
    method: "POST",
    headers: { accept: "application/json", origin: without.origin },
    body: new URLSearchParams({ boat: "Petrel", lamp: before[0]?.["lamp"] ? "off" : "on" }),
  })
  expect([looked.status, moved.status]).toEqual([404, 404])
  expect(await moved.json()).toEqual({ error: "The demo is switched off here." })
  expect(await sql`select * from demo_boats order by name`).toEqual(before)
})

async function look() {
  const response = await open()
  expect(response.status).toBe(200)
  const { body } = response
  if (!body) throw new Error("The stream has no body.")
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let shown: Boat[] = []
  let received = ""

  async function nextEvent(): Promise<string> {
    while (!received.includes("\n\n")) {
      const { value, done } = await reader.read()
      if (done) throw new Error("The stream has ended.")
      received += value
    }
    const [event = "", ...rest] = received.split("\n\n")
    received = rest.join("\n\n")
    return event
  }

  /** The boats in the next event of them. */
  async function next(): Promise<Boat[]> {
    const event = await nextEvent()
    const data = /^event: boats\ndata: (.*)$/m.exec(event)?.[1]
    return data === undefined ? next() : (shown = JSON.parse(data) as Boat[])
  }

  return {
    next,
    /** The boat, once it is sent with a change. */
    async until(name: string): Promise<Boat | undefined> {
      const before = JSON.stringify(find(name))
      while (JSON.stringify(find(name)) === before) await next()
      return find(name)
    },
    async untilAudience(count: number) {
      while ((await nextEvent()) !== `event: audience\ndata: ${count}`);
    },
    async ended() {
      while (!(await reader.read()).done);
      return true
    },
    leave: () => reader.cancel(),
  }

  function find(name: string) {
    return shown.find((boat) => boat.name === name)
  }
}

function post(fields: Record<string, string>, headers: Record<string, string> = {}) {
  return fetch(`${app.origin}/demo`, {
    method: "POST",
    headers: { accept: "application/json", origin: app.origin, ...headers },
    body: new URLSearchParams(fields),
    redirect: "manual",
  })
}
