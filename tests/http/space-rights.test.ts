import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { hashLinkToken } from "#server/link-token.ts"
import { liveChannels, liveMutations, liveQueries } from "#server/live-functions.ts"
import { isRead } from "#server/operations/implement.ts"
import { spaceOperations } from "#server/spaces/operations-contract.ts"
import { spacePageOperations } from "#server/spaces/page-operations-contract.ts"
import { formFor } from "../support/forms.ts"
import { openLiveSocket, realtimeToken, type LiveSocket } from "../support/live.ts"
import { openBrowser, signUp, type Person } from "../support/people.ts"
import {
  asSentBy,
  hashOfContent,
  laySpace,
  LINK_TOKEN,
  ofNothing,
  SECRET,
  SLUG,
  STANDINGS,
  type Standing,
} from "../support/space-content.ts"
import { mutations, OTHER_FUNCTIONS, queries } from "../support/space-functions.ts"
import { FILE_FORMS, LIST_FORMS, listPages, spaceForms, type Form } from "../support/space-pages.ts"
import type { Answer } from "../support/space-rights.ts"
import { apiRoutes, OTHER_OPERATIONS, type Route } from "../support/space-routes.ts"
import { withTideline } from "../support/with-tideline.ts"

/** Somebody, or somebody who is not signed in. */
type Caller = Standing | "visitor"
/** What to say instead of an operation's ids. */
type Say = (call: string) => string

const STATUS = { conflict: 409, unauthorized: 401, not_found: 404 }
const ROLES_LACKED = ["space-reader", "space-owner-only"]
/** Stands for the people's ids where only names are read. */
const NAMES = { owner: "", editor: "", reader: "", removed: "", outsider: "" }
const PAGES = listPages()
/** The page of an invitation has a URL that is secret, and a form of its own. */
const WITHOUT_FORM = [spaceOperations.join.name]
/** The id of the owner's subscription to their spaces. */
const FENCE = 1_000_000

let people: Record<Standing, Person>
let sockets: Record<Standing, LiveSocket>
let ids: Record<Standing, string>
let bytes: { tokenHash: string; storageId: string }
/** The operations in the OpenAPI document, as `GET /api/files`. */
let described: string[]
let subscriptions = 0
let times = 0

const { app, sql } = withTideline({
  settings: { SPACES: "on", CHAT_RATE_LIMIT: "1000", CHAT_TURNS_AT_ONCE: "50" },
  connections: 2,
})

beforeAll(async () => {
  const entered = await Promise.all(STANDINGS.map(enter))
  people = byStanding(entered.map(({ person }) => person))
  sockets = byStanding(entered.map(({ socket }) => socket))
  ids = byStanding(entered.map(({ id }) => id))
  await sql`update users set onboarding_completed = true`
  await sql`update auth.user set email_verified = true`
  await people.owner("/api/files?name=own.txt", { method: "POST", body: "8 bytes." })
  const [stored] = await sql`select storage_id from files`
  const response = await people.owner("/api/openapi.json")
  const { paths } = (await response.json()) as { paths: Record<string, Record<string, unknown>> }
  described = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  )
  await sockets.owner.subscribe("spaces.list", {}, FENCE)
  bytes = { tokenHash: hashLinkToken(LINK_TOKEN), storageId: String(stored?.["storage_id"]) }
})
afterAll(async () => {
  for (const socket of Object.values(sockets)) socket.close()
})
beforeEach(lay)

describe("every function of the socket", () => {
  it("is in the lists of these tests", () => {
    const named = [...liveQueries, ...liveMutations, ...liveChannels].map(({ name }) => name)
    const called = new Set(Object.keys(mutations(NAMES)).map(withoutWay))
    const known = [...Object.keys(queries(NAMES)), ...called, ...Object.keys(OTHER_FUNCTIONS)]
    expect(known.toSorted()).toEqual(named.toSorted())
  })

  it.each(Object.entries(queries(NAMES)))("%s shows each person what they may see", async (name, call) => {
    for (const who of STANDINGS) {
      const answer = await sockets[who].query(name, call.args)
      expect([who, codeOf(answer)]).toEqual([who, call.answers[who]])
      if (isOutside(who)) expect(JSON.stringify(answer)).not.toContain(SECRET)
      const id = ++subscriptions
      const followed = await sockets[who].subscribe(name, call.args, id)
      expect([who, followed.accepted]).toEqual([who, call.answers[who] === "ok" ? [id] : []])
      // Or every change of the tests that follow would be sent to it.
      sockets[who].unsubscribe(id)
    }
    for (const who of STANDINGS.filter(isOutside))
      expect(JSON.stringify(sockets[who].received)).not.toContain(SECRET)
  })

  it.each(Object.keys(mutations(NAMES)))("%s changes what each person may change", async (name) => {
    const { args, answers } = mutations(ids)[name]!
    await inTurn(answers, async (who, say) => {
      const answer = await sockets[who].mutate(withoutWay(name), JSON.parse(say(JSON.stringify(args))))
      if (isOutside(who)) expect(JSON.stringify(answer)).not.toContain(SECRET)
      return codeOf(answer)
    })
  })
})

describe("every operation of the HTTP API", () => {
  it("is in the lists of these tests", () => {
    const routes = Object.keys(apiRoutes(NAMES)).map(withoutWay)
    // Tested beside GET.
    const heads = routes.map(headOf).filter((name) => described.includes(name))
    const known = new Set([...routes, ...heads, ...OTHER_OPERATIONS])
    expect([...known].toSorted()).toEqual(described.toSorted())
  })

  it.each(Object.keys(apiRoutes(NAMES)))("%s answers each person as far as they may", async (name) => {
    const route = apiRoutes(ids)[name]!
    let address = ""
    const answers = { ...route.answers, visitor: "unauthorized" as const }
    await inTurn(answers, (who, say) => send(who, name, address, route, say), {
      prepare: async () => (address = typeof route.path === "string" ? route.path : await route.path(people)),
      isReading: name.startsWith("GET "),
    })
  })
})

describe("text that is no id", () => {
  it("is answered as an id that nothing has, in every address", async () => {
    for (const [name, { path, init }] of Object.entries(apiRoutes(ids))) {
      if (typeof path !== "string") continue
      const [before = ""] = path.split("?")
      const address = before.replaceAll(/5eac[\w-]+/g, "no-id")
      if (address === before) continue
      expect([name, (await people.owner(address, init?.())).status]).toEqual([name, 404])
    }
  })
})

describe("every form", () => {
  it("is in the lists of these tests", () => {
    const known = [...Object.keys(spaceForms(NAMES)), ...Object.keys(LIST_FORMS), ...WITHOUT_FORM]
    const declared = [...Object.values(spaceOperations), ...Object.values(spacePageOperations)]
    const changes = declared.filter((operation) => !isRead(operation))
    expect(known.toSorted()).toEqual(changes.map(({ name }) => name).toSorted())
  })

  it.each(Object.keys(spaceForms(NAMES)))("%s of a space's page does what each person may", (name) =>
    submitInTurn(`/s/${SLUG}/members`, name, spaceForms(ids)[name]!),
  )

  it.each(Object.entries(LIST_FORMS))("%s of the page of spaces does what each person may", (name, form) =>
    submitInTurn("/dashboard/spaces", name, form),
  )

  it.each(Object.entries(FILE_FORMS))("%s of the pages of files does what each person may", (name, form) =>
    submitInTurn(`/s/${SLUG}/${form.page}`, name, form),
  )
})

describe("the pages", () => {
  it.each(PAGES.inSpace)("%s opens for members alone", async (path) => {
    for (const who of STANDINGS) {
      const response = await open(who, path)
      const text = await response.text()
      const opens = !isOutside(who) && !path.endsWith("/nowhere")
      expect([who, response.status]).toEqual([who, opens ? 200 : 404])
      if (isOutside(who)) expect(text).not.toContain(SECRET)
    }
    expect((await open("owner", path.replace(SLUG, "none-such"))).status).toBe(404)
    expect((await openBrowser(app)(path)).headers.get("location")).toContain("/sign-in")
  })

  it.each(PAGES.inSpace)("%s takes no form from anybody else", async (path) => {
    const before = await hashOfContent(sql)
    for (const who of STANDINGS.filter(isOutside)) {
      const response = await people[who](path, { method: "POST", body: new URLSearchParams({ intent: "x" }) })
      expect([who, response.status >= 400]).toEqual([who, true])
      expect(await response.text()).not.toContain(SECRET)
    }
    expect(await hashOfContent(sql)).toBe(before)
  })

  it.each(PAGES.outside)("%s shows nothing of a space to anybody else", async (path) => {
    for (const who of STANDINGS.filter(isOutside))
      expect(await (await people[who](path)).text()).not.toContain(SECRET)
  })
})

/**
 * Lets those act who are refused, and checks that nothing has changed, and then the others, each on
 * the same content, which is laid again if they may have changed it. What does not exist is answered
 * as what one may not see.
 */
async function inTurn<Who extends Caller>(
  answers: Record<Who | Standing, Answer | "unauthorized">,
  act: (who: Who | Standing, say: Say) => Promise<string>,
  {
    prepare = async () => {},
    isReading = false,
  }: { prepare?: () => Promise<unknown>; isReading?: boolean } = {},
) {
  await prepare()
  const before = await hashOfContent(sql)
  const own = async (who: Who | Standing) => [who, await act(who, (call) => asSentBy(who, call))]
  const refused = (Object.keys(answers) as Who[]).filter((who) => answers[who] !== "ok")
  for (const who of refused) expect(await own(who)).toEqual([who, answers[who]])
  if (answers.outsider !== "ok")
    expect(["nothing", await act("owner", ofNothing)]).toEqual(["nothing", answers.outsider])
  if (refused.length > 0) expect(await hashOfContent(sql)).toBe(before)
  for (const [at, who] of STANDINGS.filter((one) => answers[one] === "ok").entries()) {
    if (at > 0 && !isReading) {
      await lay()
      await prepare()
    }
    expect(await own(who)).toEqual([who, "ok"])
  }
}

/** Waits for the application to hear of it too: that members left the spaces there were before. */
async function lay() {
  const mark = `of ${++times}.`
  // A token lasts a minute, and all of these tests may take longer.
  if (times % 10 === 0)
    for (const who of STANDINGS) await sockets[who].authenticate(await realtimeToken(people[who]))
  sockets.owner.received.length = 0
  await laySpace(sql, ids, { ...bytes, mark })
  await sockets.owner.until(({ event }) => JSON.stringify(event).includes(mark))
}

async function send(
  who: Caller,
  name: string,
  address: string,
  { answers, ok = 200, init }: Route,
  say: Say,
): Promise<string> {
  const browser = browserOf(who)
  const response = await browser(say(address), said(init?.(), say))
  const text = await response.text()
  if (who === "visitor" || (isOutside(who) && answers[who] !== "ok")) expect(text).not.toContain(SECRET)
  if (name.startsWith("GET ") && described.includes(headOf(name))) {
    const head = await browser(say(address), { method: "HEAD" })
    expect([who, head.status]).toEqual([who, response.status])
  }
  return answerOf(response, ok, text)
}

function submitInTurn(path: string, name: string, { answers, values, fields, picture, next }: Form) {
  return inTurn({ ...answers, visitor: "unauthorized" as const }, async (who, say) => {
    const { method, body } = formFor({ name }, JSON.parse(say(JSON.stringify(values))), fields, next)
    const response = await browserOf(who)(path, { method, body: picture ? asForm(body, picture) : body })
    const text = await response.text()
    if (isOutside(who)) expect(text).not.toContain(SECRET)
    return answerOf(response, next === undefined ? 200 : 302, text)
  })
}

function said(init: RequestInit = {}, say: Say): RequestInit {
  const { body } = init
  if (typeof body === "string") return { ...init, body: say(body) }
  return body instanceof URLSearchParams ? { ...init, body: new URLSearchParams(say(body.toString())) } : init
}

function browserOf(who: Caller) {
  return who === "visitor" ? openBrowser(app) : people[who]
}

function asForm(fields: URLSearchParams, picture: Buffer<ArrayBuffer>): FormData {
  const form = new FormData()
  for (const [name, value] of fields) form.set(name, value)
  form.set("picture", new File([picture], "picture.png", { type: "image/png" }))
  return form
}

function answerOf({ status, url, headers }: Response, ok: number, text: string): string {
  if (headers.get("location")?.includes("/sign-in")) return "unauthorized"
  if (status === 403) return ROLES_LACKED.filter((reason) => text.includes(reason)).join()
  if (status === ok) return "ok"
  const found = Object.entries(STATUS).find(([, refused]) => refused === status)
  return found ? found[0] : `${url}: ${status} ${text.slice(0, 300)}`
}

/** The name of what is called. After a comma it says in which way. */
function withoutWay(name: string): string {
  return name.split(",")[0] ?? ""
}

function headOf(name: string): string {
  return name.replace(/^GET /, "HEAD ")
}

/** The response after redirects, such as to a space's first page. */
async function open(who: Standing, path: string): Promise<Response> {
  const response = await people[who](path)
  const location = response.headers.get("location")
  return location === null ? response : open(who, location)
}

function isOutside(who: Caller): boolean {
  return who === "removed" || who === "outsider" || who === "visitor"
}

async function enter(who: Standing) {
  const person = await signUp(app, { name: who, email: `${who}@example.org` })
  const socket = await openLiveSocket(app, await realtimeToken(person))
  const [user] = await sql`select _id from users where email = ${person.email}`
  return { person, socket, id: String(user?.["_id"]) }
}

function byStanding<Value>(values: Value[]): Record<Standing, Value> {
  return Object.fromEntries(STANDINGS.map((who, at) => [who, values[at]])) as Record<Standing, Value>
}

function codeOf(answer: object): string {
  if (!("error" in answer)) return "ok"
  const { code, reason } = answer.error as { code: string; reason: string }
  return code === "forbidden" ? reason : code
}
