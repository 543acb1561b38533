import { describe, expect, it } from "vitest"
import { leftOutAfter, readFailure } from "#server/chat/failure-contract.ts"
import { listMessages } from "#server/chat/messages.ts"
import { createThread } from "#server/chat/threads.ts"
import { startReply } from "#server/chat/turn.ts"
import { createReplies } from "#server/chat/replies.ts"
import { readAll, shareChatServices, textOf, type ChatScope } from "../support/chat-services.ts"
import { FAULTS, refuses, REFUSED_WORDS, sendFault, TOO_LONG, type Fault } from "../support/model-faults.ts"
import { askedModel, openModelServer, piece, sendStream } from "../support/model-server.ts"
import { blobs, files } from "#db/schema/files.ts"
import { generator } from "../realtime/support/form.ts"

const { ada } = await shareChatServices()

const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)

/** Failures of model servers; `MODEL_FAULTS=200` is the long form, and `SEED` repeats a run. */
const TRIALS = Number(process.env["MODEL_FAULTS"] ?? 36)
const SEED = Number(process.env["SEED"] ?? 38)

describe("after a failure of the model server", () => {
  it(
    `the next plain question is answered: ${TRIALS} failures of seed ${SEED}`,
    { timeout: 600_000 },
    async () => {
      const image = await addImage()
      const { below, chance } = generator(SEED)
      for (let trial = 0; trial < TRIALS; trial++) {
        const fault = FAULTS[trial < FAULTS.length ? trial : below(FAULTS.length)]
        if (!fault) throw new Error("There are no faults.")
        const context = `trial ${trial}: ${fault.status} ${fault.says}`
        const { ask } = await openFaulty(fault)
        const before = below(3)
        for (let count = 0; count < before; count++) await ask("How deep is the sea?")
        await ask(...trigger(fault, image))
        if (chance(0.5)) await ask(...trigger(fault, image))
        expect(await ask("What is two and two?"), context).toMatchObject({ text: "Deep.", failure: null })
        expect(await ask("And three?"), context).toMatchObject({ text: "Deep.", failure: null })
      }
    },
  )

  it.each([
    ["image", "images-not-supported", "images"],
    ["length", "message-too-long-for-model", "message"],
    ["words", "message-withheld", "message"],
  ] as const)("at %s, the reply says why, and it is left out from then on", async (at, reason, leftOut) => {
    const fault = FAULTS.find((one) => one.at === at)
    if (!fault) throw new Error("There is no such fault.")
    const { ask, requests, entries } = await openFaulty(fault)
    await ask("The secret word is heron.")
    const image = await addImage()
    const { failure } = await ask(...trigger(fault, image))
    expect(readFailure(failure ?? "").reason).toBe(reason)
    expect(leftOutAfter(failure)).toBe(leftOut)
    const count = requests.length
    expect((await ask("What is two and two?")).text).toBe("Deep.")
    // Sent once: nothing had to be refused again.
    expect(requests).toHaveLength(count + 1)
    expect(JSON.stringify(requests.at(-1)?.body)).toContain("heron")
    expect((await entries()).at(-1)?.turn?.recall).toBeNull()
  })

  it("each cause is logged under its own reference", async () => {
    const first = FAULTS.filter(({ at }) => at === "words" || at === "length")
    const logged: Record<string, unknown>[] = []
    const references = new Set<string>()
    for (const fault of first) {
      const faulty = await openFaulty(fault)
      const { failure } = await faulty.ask(...trigger(fault, ""))
      references.add(/Reference (\w+)/.exec(failure ?? "")?.[1] ?? "none")
      logged.push(...faulty.logged)
    }
    expect(references.size).toBe(first.length)
    for (const reference of references)
      expect(logged.filter((line) => line["reference"] === reference)).toHaveLength(1)
  })
})

describe("a model without tools", () => {
  const fault = FAULTS.find(({ at }) => at === "tools") as Fault

  it("replies in the same turn, and gets no tools from then on", async () => {
    const { ask, requests, scope, logged } = await openFaulty(fault)
    expect(await ask("How deep is the sea?")).toMatchObject({ text: "Deep.", failure: null })
    expect((await ask("And the lake?")).text).toBe("Deep.")
    expect(requests.map(({ body }) => "tools" in body)).toEqual([true, false, false])
    expect(scope.replies.abilities.learned().withoutTools).toBe(true)
    expect(logged.some(({ msg }) => String(msg).includes("CHAT_TOOLS=off"))).toBe(true)
  })

  it("gets none with CHAT_TOOLS=off, and always with on", async () => {
    const off = await openFaulty(fault, { CHAT_TOOLS: "off" })
    expect((await off.ask("How deep is the sea?")).text).toBe("Deep.")
    expect(off.requests.map(({ body }) => "tools" in body)).toEqual([false])
    const on = await openFaulty(fault, { CHAT_TOOLS: "on" })
    expect((await on.ask("How deep is the sea?")).failure).not.toBeNull()
    expect(on.requests.map(({ body }) => "tools" in body)).toEqual([true])
  })
})

describe("a long conversation", () => {
  it("is remembered from its beginning as long as it fits", async () => {
    const { ask, requests, entries } = await openFaulty(null)
    await ask("The secret word is heron.")
    for (let count = 0; count < 31; count++) await ask(`Question ${count}`)
    expect(JSON.stringify(requests.at(-1)?.body)).toContain("heron")
    expect((await entries()).at(-1)?.turn?.recall).toBeNull()
  })

  it("begins later if it does not fit, and says where", async () => {
    const { ask, requests, entries } = await openFaulty(null, { CHAT_CONTEXT_TOKENS: "4096" })
    await ask("The secret word is heron.")
    for (let count = 0; count < 6; count++) await ask(`${count} ${"tide ".repeat(120)}`)
    const stored = await entries()
    const from = stored.at(-1)?.turn?.recall?.from
    const first = stored.find(({ _id }) => _id === from)
    expect(first?.role).toBe("user")
    const sent = requests.at(-1)?.body["messages"] as { role: string; content: string }[]
    expect(sent[1]?.content).toBe(first?.content)
    expect(JSON.stringify(sent)).not.toContain("heron")
  })

  it("sends the results of tools back", async () => {
    const call = [{ index: 0, id: "call_1", function: { name: "currentTime", arguments: "{}" } }]
    const { baseUrl, requests } = await openModelServer((response, _, number) =>
      sendStream(
        response,
        number === 0
          ? [event({ tool_calls: call }), event({}, "tool_calls")]
          : [event({ content: "Deep." }), event({}, "stop")],
      ),
    )
    const { ask } = await converse(baseUrl)
    await ask("What time is it?")
    await ask("And where?")
    const sent = requests.at(-1)?.body["messages"] as Record<string, unknown>[]
    expect(sent.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "assistant", "user"])
    expect(JSON.stringify(sent[3])).toContain("utc")
  })
})

/** A conversation with a model server that has a fault. A fault at nothing happens once. */
async function openFaulty(fault: Fault | null, settings: Record<string, string> = {}) {
  let isDone = false
  const { baseUrl, requests } = await openModelServer((response, request) => {
    const said = JSON.stringify(request.body["messages"])
    const isPassing = fault?.at === "nothing" && !isDone && said.includes("Now fail.")
    if (fault && (refuses(fault, request) || isPassing)) return sendFault(fault, response)
    return sendStream(response, [event({ content: "Deep." }), event({}, "stop")])
  })
  const conversation = await converse(baseUrl, settings)
  return {
    ...conversation,
    requests,
    async ask(text: string, fileIds: string[] = []) {
      isDone = text !== "Now fail."
      return conversation.ask(text, fileIds)
    },
  }
}

async function converse(baseUrl: string, settings: Record<string, string> = {}) {
  const { model, config, log, logged } = askedModel(baseUrl, settings)
  const scope: ChatScope = {
    ...ada,
    model,
    config,
    log,
    replies: createReplies({ ...ada, model, config, log }),
  }
  const { _id: threadId } = await createThread(scope, { title: "Tides" })
  let asked = 0
  const entries = async () => (await listMessages(scope, threadId, { cursor: undefined, limit: 100 })).entries
  return {
    scope,
    logged,
    entries,
    async ask(text: string, fileIds: string[] = []) {
      const question = { requestId: `q${asked++}`, text, fileIds, again: false }
      const chunks = await readAll((await startReply(scope, threadId, question)).chunks)
      const failure = chunks.find((chunk) => chunk.type === "error")?.errorText ?? null
      return { text: textOf(chunks), failure }
    },
  }
}

/** A message that the server with this fault refuses. */
function trigger({ at }: Fault, image: string): [string, string[]] {
  if (at === "image") return ["What is in this image?", [image]]
  if (at === "length") return ["x ".repeat(TOO_LONG / 2), []]
  if (at === "words") return [`Repeat ${REFUSED_WORDS}.`, []]
  return [at === "nothing" ? "Now fail." : "How deep is the sea?", []]
}

function event(delta: object, finishReason: string | null = null): string {
  return `data: ${piece(delta, finishReason)}\n\n`
}

async function addImage(): Promise<string> {
  const key = ada.blobs.newKey()
  const stored = await ada.blobs.put(key, inOnePiece(PIXEL), { limit: PIXEL.length })
  const [blob] = await ada.db
    .insert(blobs)
    .values({ key, ...stored })
    .returning()
  const image = { fileName: `${key}.png`, mimeType: "image/png", size: PIXEL.length }
  const [file] = await ada.db
    .insert(files)
    .values({ storageId: blob?._id ?? "", userId: ada.viewer.user._id, ...image })
    .returning()
  return file?._id ?? ""
}

async function* inOnePiece(bytes: Buffer) {
  yield bytes
}
