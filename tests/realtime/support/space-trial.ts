import { setTimeout } from "node:timers/promises"
import type postgres from "postgres"
import type { Followed, ReferenceClient } from "./client.ts"
import { killStreams } from "./cluster.ts"
import { catchUp } from "./oracle.ts"
import { pick, token, type Chance, type Place } from "./space-changes.ts"
import type { Fleet } from "./space-fleet.ts"
import { SpaceModel } from "./space-model.ts"
import type { History, World } from "./space-world.ts"

/** How long a client may take to have everything again, once nothing breaks any more. */
const REST_MS = 60_000

interface Trial {
  sql: postgres.Sql
  world: World
  chance: Chance
  /** By person. */
  clients: ReadonlyMap<string, ReferenceClient>
  fleet: Fleet
  /** What earlier trials of this world said on channels, which may arrive late. */
  saidBefore: Set<string>
}

/** A text that was sent on a channel, and how many transactions had been committed before. */
interface Said {
  thread: string
  space: string
  text: string
  after: number
}

export interface Findings {
  /** Texts that somebody was shown and may never have been. */
  leaks: string[]
  /** Lists that differ from the tables at the end. */
  differences: string[]
  /** Changes by people who could not make them. */
  unlawful: string[]
  transactions: number
  shown: number
}

/**
 * Random people write in random spaces while others join, leave and are removed, conversations move,
 * and connections and the stream break. Then compares what everybody was sent with the tables,
 * replayed in the order of the commits.
 */
export async function runTrial(trial: Trial): Promise<Findings> {
  const { sql, world, chance, clients, fleet, saidBefore } = trial
  const { people } = world
  for (const client of clients.values()) client.events.length = 0
  const history: History = { transactions: [], committed: 0 }
  const said: Said[] = []
  const place = await world.begin(history, chance)
  const wanted = people.map((person) => listsOf(person, place).filter(() => chance.chance(0.5)))
  // In half of the trials the lists are opened while the writing goes on.
  const opening = Promise.all(people.map((person, at) => clients.get(person)!.followAll(wanted[at]!)))
  if (chance.chance(0.5)) await opening
  const broken = breakSomething(trial)
  await Promise.all(
    [0, 1, 2].map(async () => {
      for (let n = 0; n < 4; n++) {
        await world.write(history, place, chance)
        if (chance.chance(0.3)) say(clients, chance, world, said, history.committed)
      }
    }),
  )
  // Otherwise many a list that is wrongly still open would show nothing that tells.
  await world.writeEverywhere(history, place)
  await Promise.all([opening, broken])
  const model = new SpaceModel()
  const allowed = replay(people, model, history, said)
  await comeToRest(sql, clients, model, fleet)
  const findings = {
    leaks: people.flatMap((person) =>
      findLeaks(person, clients.get(person)!, allowed.get(person)!, saidBefore),
    ),
    differences: people.flatMap((person) => findDifferences(person, clients.get(person)!, model)),
    unlawful: model.unlawful,
    transactions: history.committed,
    shown: [...clients.values()].reduce((sum, { events }) => sum + tokensIn(events).size, 0),
  }
  for (const { text } of said) saidBefore.add(text)
  for (const client of clients.values())
    for (const followed of client.followed.values()) client.unfollow(followed)
  await world.clear()
  return findings
}

/** Everything that the person could ask about the two spaces, and their own lists. */
function listsOf(person: string, { spaces, threads }: Place): { query: string; args: object }[] {
  return [
    { query: "spaces.list", args: {} },
    { query: "chat.listThreads", args: {} },
    ...threads.map((threadId) => ({ query: "chat.listMessages", args: { threadId } })),
    ...spaces.flatMap((spaceId) => [
      { query: "chat.listThreads", args: { spaceId } },
      { query: "files.list", args: { spaceId } },
      { query: "spaces.members", args: { spaceId } },
      ...threads.map((threadId) => ({ query: "chat.listMessages", args: { threadId, spaceId } })),
    ]),
  ]
}

/** At most one fault in each trial; nothing in most. */
async function breakSomething({ sql, world, chance, clients, fleet }: Trial): Promise<void> {
  const client = clients.get(pick(chance, world.people))!
  const kind = chance.below(100)
  if (kind < 1) await fleet.kill(chance.below(2))
  else if (kind < 4) await killStreams(sql)
  else if (kind < 20) client.acknowledging = false
  else if (kind < 35) {
    client.close()
    // It may be the one whose stream or process has just been killed.
    await client.resume(pick(chance, fleet.urls)).catch(() => {})
  } else if (kind < 42) client.tamper = (event) => (chance.chance(0.2) ? [] : [event])
}

function say(clients: Trial["clients"], chance: Chance, world: World, said: Said[], after: number) {
  const client = clients.get(pick(chance, world.people))!
  if (!client.connected) return
  const list = [...client.followed.values()].find(
    ({ query, args, state }) =>
      state === "live" && query === "chat.listMessages" && "spaceId" in (args as object),
  )
  if (!list) return
  const { threadId, spaceId } = list.args as { threadId: string; spaceId: string }
  const text = token()
  said.push({ thread: threadId, space: spaceId, text, after })
  client.emit("join", { id: list.id, channel: "test.typing" })
  client.emit("broadcast", { id: list.id, channel: "test.typing", message: { text } })
}

/** By person: every text that they could be shown at some point of the order. */
function replay(
  people: readonly string[],
  model: SpaceModel,
  { transactions }: History,
  said: readonly Said[],
) {
  const allowed = new Map(people.map((person) => [person, new Set<string>()]))
  for (const [at, effects] of transactions.entries()) {
    model.apply(effects)
    for (const person of people) {
      const texts = allowed.get(person)!
      for (const text of model.visibleTo(person)) texts.add(text)
      for (const { thread, space, text, after } of said)
        if (at + 1 >= after && model.seesThread(person, thread, space)) texts.add(text)
    }
  }
  return allowed
}

/** Heals everything, opens again what was refused or revoked, and waits for the last commit. */
async function comeToRest(
  sql: postgres.Sql,
  clients: Trial["clients"],
  model: SpaceModel,
  fleet: Fleet,
): Promise<void> {
  await Promise.all(
    [...clients].map(async ([person, client]) => {
      client.acknowledging = true
      client.tamper = (event) => [event]
      // A gap is noticed at the next event.
      await reach(sql, client, fleet)
      const again = [...client.followed.values()].filter(
        (list) => list.state !== "live" && isVisible(model, person, list),
      )
      for (const list of again) client.unfollow(list)
      await client.followAll(again)
      if (again.length > 0) await reach(sql, client, fleet)
    }),
  )
}

async function reach(sql: postgres.Sql, client: ReferenceClient, fleet: Fleet): Promise<void> {
  const giveUpAt = performance.now() + REST_MS
  for (let tries = 0; ; tries++) {
    try {
      if (client.broken || !client.connected) await client.resume(fleet.urls[tries % fleet.urls.length])
      await client.renew()
      if (client.followed.size > 0) await catchUp(sql, client)
      const unsettled = client.unsettled
      if (unsettled.length === 0) return
      if (performance.now() > giveUpAt) throw new NotAtRest(unsettled)
      await setTimeout(Math.max(0, ...unsettled.map(({ refusal }) => refusal?.retryAfter ?? 0)))
    } catch (error) {
      if ((client.connected && !client.broken) || performance.now() > giveUpAt) throw error
      await setTimeout(20)
    }
  }
}

class NotAtRest extends Error {
  constructor(lists: readonly Followed[]) {
    const states = lists.map(({ query, args, state, refusal }) =>
      JSON.stringify({ query, args, state, refusal }),
    )
    super(`The client does not come to rest: ${states.join(", ")}`)
  }
}

function isVisible(model: SpaceModel, person: string, { args }: Followed): boolean {
  const { spaceId, threadId } = args as { spaceId?: string; threadId?: string }
  const place = spaceId ?? person
  return threadId === undefined ? model.mayRead(person, place) : model.seesThread(person, threadId, place)
}

function findLeaks(
  person: string,
  { events }: ReferenceClient,
  allowed: ReadonlySet<string>,
  saidBefore: ReadonlySet<string>,
): string[] {
  return [...tokensIn(events)]
    .filter((text) => !allowed.has(text) && !saidBefore.has(text))
    .map((text) => {
      const event = JSON.stringify(events.find((each) => tokensIn(each).has(text)))
      const at = event.indexOf(text)
      return `${person} was shown ${text} by ${event.slice(0, 100)} … ${event.slice(Math.max(0, at - 200), at + 100)}`
    })
}

function findDifferences(person: string, client: ReferenceClient, model: SpaceModel): string[] {
  const found = [...client.followed.values()].flatMap((list) => {
    const { query, args, state, refusal } = list
    const { spaceId, threadId } = args as { spaceId?: string; threadId?: string }
    const about = `${person} ${query} ${JSON.stringify(args)}`
    if (!isVisible(model, person, list)) {
      const isClosed = state === "revoked" || refusal?.code === "not_found"
      return isClosed && list.rows.size === 0
        ? []
        : [`${about} is open: ${state}, ${JSON.stringify(refusal)}`]
    }
    if (state !== "live") return [`${about} is ${state}, ${JSON.stringify(refusal)}`]
    if (query === "spaces.members") return []
    const expected =
      query === "spaces.list"
        ? model.spaceTokensOf(person)
        : model.tokensIn(query, spaceId ?? person, threadId)
    const shown = [...tokensIn(client.rowsOf(list))].toSorted()
    return JSON.stringify(shown) === JSON.stringify(expected)
      ? []
      : [`${about} shows ${shown.join(" ")} instead of ${expected.join(" ")}`]
  })
  return [...found, ...client.violations.splice(0).map((breach) => `${person}: ${breach}`)]
}

function tokensIn(shown: unknown): Set<string> {
  return new Set(JSON.stringify(shown).match(/tok\d+x/g))
}
