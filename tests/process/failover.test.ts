import { afterAll, beforeAll, expect, it } from "vitest"
import type { ThreadSummary } from "#server/chat/contract.ts"
import type { ReplicaSet } from "#db/embedded/replica-set.ts"
import { post, postAsync } from "../support/api.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { openLiveSocket, realtimeToken } from "../support/live.ts"
import { ada, signUp } from "../support/people.ts"
import { findFreePort } from "../support/ports.ts"
import { startTestReplicaSet } from "../support/replica-set.ts"
import { openScriptedGateway, type ScriptedGateway } from "../support/scripted-gateway.ts"
import { watchThread } from "../support/watched-thread.ts"

let set: ReplicaSet
let gateway: ScriptedGateway
let app: TidelineApp
let probes: string

beforeAll(async () => {
  const port = await findFreePort()
  probes = `http://127.0.0.1:${port}`
  gateway = await openScriptedGateway()
  // A commit is acknowledged once the standby has it, so that its promotion loses none.
  set = await startTestReplicaSet({ standbys: 1, settings: { synchronous_standby_names: "b" } })
  app = await startTideline({ DATABASE_URL: set.url, OPS_PORT: String(port), ...gateway.env })
}, 120_000)
afterAll(async () => {
  await app.stop()
  await set.stop()
  await gateway.close()
})

it("the death of the primary costs the requests of that moment, and no sign-in, record or reply", async () => {
  const [old, standby] = set.nodes
  const person = await signUp(app, ada)
  const store = (name: string) => person(`/api/files?name=${name}`, { method: "POST", body: name })
  expect((await store("before.txt")).status).toBe(201)
  const made = await person("/api/chat/threads", post({ title: "The sea" }))
  const { thread } = (await made.json()) as { thread: ThreadSummary }
  const parts = [{ type: "text", text: "How deep is the sea?" }]
  const messages = [{ id: "q1", role: "user", parts }]
  await person("/api/chat", postAsync({ threadId: thread._id, messages }))
  const answer = await gateway.asked(0)
  answer.say("Before, ")
  const page = await watchThread(app, person, thread._id)
  await page.until(({ text }) => text === "Before, ")

  await old!.kill()
  const refused = await person("/api/files")
  expect(refused.status).toBe(503)
  expect(refused.headers.get("retry-after")).toBe("5")
  answer.say("while it was away, ")
  await expect.poll(readiness, { timeout: 20_000 }).toBe(503)

  // It has no standby of its own yet.
  await standby!.set({ synchronous_standby_names: "" })
  await set.failOver(standby!)
  await expect.poll(async () => (await store("after.txt")).status, { timeout: 30_000 }).toBe(201)
  await expect.poll(readiness, { timeout: 30_000 }).toBe(200)
  const listed = (await (await person("/api/files")).json()) as { files: { fileName: string }[] }
  expect(listed.files.map(({ fileName }) => fileName).toSorted()).toEqual(["after.txt", "before.txt"])
  answer.say("and after.")
  answer.finish()
  const again = await watchThread(app, person, thread._id)
  const ended = await again.until(({ status }) => status === "completed")
  expect(ended.text).toBe("Before, while it was away, and after.")

  const socket = await openLiveSocket(app, await realtimeToken(person))
  await socket.subscribe("files.list", {}, 1)
  expect((await store("shown.txt")).status).toBe(201)
  await socket.until(({ event }) => JSON.stringify(event).includes("shown.txt"))
  for (const each of [page, again, socket]) each.close()
}, 120_000)

async function readiness(): Promise<number> {
  return (await fetch(`${probes}/readyz`)).status
}
