import { randomBytes, randomUUID } from "node:crypto"
import type { seeded } from "../realtime/support/form.ts"
import { post, postAsync } from "./api.ts"
import type { Person } from "./people.ts"
import { begin, offsetOf, type SentUpload } from "./uploads.ts"

type Chance = ReturnType<typeof seeded>

/** What users were promised, which must be true in the end. */
export interface Ledger {
  /** The email addresses of accounts. */
  accounts: string[]
  /**
   * The titles that a conversation may have: the last one acknowledged, and later ones whose
   * requests got no response.
   */
  titles: Map<string, Set<string>>
  /** The bytes of each file. */
  files: Map<string, Buffer>
  /** Accepted messages: the id of each reply. */
  answers: string[]
  /** Requests that were not served: with a status of 500 or more, or no response. */
  refused: string[]
  /** Responses that no outage explains. */
  wrong: string[]
}

export interface Traffic {
  ledger: Ledger
  served(): number
  /** Resolves when no request is pending. */
  stop(): Promise<void>
}

export interface Sender {
  person: Person
  threads: string[]
  files: string[]
}

/** Both fit into the first page of a live list. */
const THREADS_EACH = 20
const FILES_EACH = 20
const PART = 300_000

type Deed = "talk" | "ask" | "store" | "send" | "look" | "join"

/**
 * Performs random actions from `deeds` for all people in parallel, one after the other for each,
 * until it is stopped. `rest` is how many milliseconds a person waits between two: without it they
 * take every core that there is.
 */
export function startTraffic(
  origin: string,
  people: readonly Person[],
  { chance, deeds, rest }: { chance: Chance; deeds: readonly Deed[]; rest: number },
): Traffic {
  const ledger: Ledger = {
    accounts: [],
    titles: new Map(),
    files: new Map(),
    answers: [],
    refused: [],
    wrong: [],
  }
  let served = 0
  let isOver = false
  const does = { talk, ask, store, send, look, join }
  const loops = people.map(async (person) => {
    const sender: Sender = { person, threads: [], files: [] }
    while (!isOver) {
      await does[deeds[chance.below(deeds.length)] ?? "look"](sender)
      if (rest > 0) await pause(rest)
    }
  })
  return {
    ledger,
    served: () => served,
    async stop() {
      isOver = true
      await Promise.all(loops)
    },
  }

  /** The response with this status, or null and a note of what came instead. */
  async function request(
    { person }: Pick<Sender, "person">,
    path: string,
    init: RequestInit,
    ...expected: number[]
  ) {
    const about = `${init.method ?? "GET"} ${path}`
    try {
      const response = await person(path, init)
      const body = Buffer.from(await response.arrayBuffer())
      served += 1
      if (expected.includes(response.status)) return { response, body }
      const list = response.status >= 500 ? ledger.refused : ledger.wrong
      list.push(`${about}: ${response.status} ${body.toString().slice(0, 200)}`)
    } catch (error) {
      ledger.refused.push(`${about}: ${reasonOf(error)}`)
    }
    return null
  }

  /** Creates a conversation, or renames one. */
  async function talk(sender: Sender) {
    const title = `title ${randomUUID()}`
    if (sender.threads.length < THREADS_EACH) {
      const made = await request(sender, "/api/chat/threads", post({ title }), 201)
      if (!made) return
      const { thread } = JSON.parse(made.body.toString()) as { thread: { _id: string } }
      sender.threads.push(thread._id)
      ledger.titles.set(thread._id, new Set([title]))
      return
    }
    const id = sender.threads[chance.below(THREADS_EACH)] ?? ""
    ledger.titles.get(id)?.add(title)
    const named = await request(
      sender,
      `/api/chat/threads/${id}`,
      { ...post({ title }), method: "PATCH" },
      200,
    )
    if (named) ledger.titles.set(id, new Set([title]))
  }

  async function ask(sender: Sender) {
    const threadId = sender.threads[chance.below(sender.threads.length)]
    if (!threadId) return talk(sender)
    const text = `/long ${20 + chance.below(300)}`
    const messages = [{ id: randomUUID(), role: "user", parts: [{ type: "text", text }] }]
    // A message sent while another is being answered is refused.
    const asked = await request(sender, "/api/chat", postAsync({ threadId, messages }), 202, 409)
    if (asked?.response.status === 202)
      ledger.answers.push((JSON.parse(asked.body.toString()) as { answerId: string }).answerId)
  }

  /** Stores a file in one request and reads it back, or deletes one. */
  async function store(sender: Sender) {
    if (sender.files.length >= FILES_EACH) {
      const id = sender.files.shift() ?? ""
      // Without a response, the deletion may or may not have happened.
      ledger.files.delete(id)
      await request(sender, `/api/files/${id}?permanently=1`, { method: "DELETE" }, 204)
      return
    }
    const bytes = randomBytes(1 + chance.below(50_000))
    const stored = await request(
      sender,
      `/api/files?name=${randomUUID()}.bin`,
      { method: "POST", body: bytes },
      201,
    )
    if (!stored) return
    const { files } = JSON.parse(stored.body.toString()) as { files: { _id: string }[] }
    for (const { _id } of files) await keep(sender, _id, bytes)
  }

  /** Uploads a file in parts, and resumes after a lost one. */
  async function send(sender: Sender) {
    if (sender.files.length >= FILES_EACH) return store(sender)
    const bytes = randomBytes(PART * 3)
    const upload = await begin(sender.person, `${randomUUID()}.bin`, bytes.length).catch((error: unknown) => {
      ledger.refused.push(reasonOf(error))
    })
    if (!upload) return
    for (let attempt = 0; attempt < 20; attempt++) {
      const id = await sendRest(upload, bytes).catch(() => null)
      if (id) return keep(sender, id, bytes)
      ledger.refused.push(`a part of ${upload.address}`)
      // As a client waits before it retries.
      await pause(250)
    }
  }

  async function sendRest(upload: SentUpload, bytes: Buffer): Promise<string | null> {
    let offset = await offsetOf(upload)
    for (;;) {
      const answer = await upload.patch(offset, bytes.subarray(offset, offset + PART))
      const id = answer.headers.get("tideline-file-id")
      if (answer.status !== 204 || id) return id
      offset = Number(answer.headers.get("upload-offset"))
      served += 1
    }
  }

  async function keep(sender: Sender, id: string, bytes: Buffer) {
    sender.files.push(id)
    ledger.files.set(id, bytes)
    const read = await request(sender, `/api/files/${id}`, {}, 200)
    if (read && !read.body.equals(bytes)) ledger.wrong.push(`${id} is not what was sent`)
  }

  async function look(sender: Sender) {
    for (const path of ["/blog", "/onboarding", "/api/files"]) await request(sender, path, {}, 200)
  }

  async function join() {
    const email = `${randomUUID()}@example.org`
    const from = { "x-forwarded-for": `10.${[0, 0, 0].map(() => chance.below(256)).join(".")}` }
    const account = JSON.stringify({ name: "Somebody", email, password: "an engine of brass and cards" })
    const headers = { "content-type": "application/json", origin, ...from }
    const visitor = { person: ((path, init) => fetch(origin + path, init)) as Person }
    const made = await request(
      visitor,
      "/api/auth/sign-up/email",
      { method: "POST", headers, body: account },
      200,
    )
    if (made) ledger.accounts.push(email)
  }
}

function pause(milliseconds: number) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "no answer"
  return error.cause instanceof Error ? error.cause.message : error.message
}
