import { expect, it, onTestFinished } from "vitest"
import { startTideline } from "../support/app.ts"
import { openModelServer, piece, sendStream } from "../support/model-server.ts"
import { ada, signUp } from "../support/people.ts"
import { findFreePort } from "../support/ports.ts"

const ready = {
  status: 200,
  ready: true,
  checks: { database: "ok", records: "ok", emails: "ok", model: "ok" },
}

it("a model server that refuses the key is reported by metrics and readiness until it replies again", async () => {
  let isRefusing = false
  const { baseUrl } = await openModelServer((response) => {
    if (isRefusing) return response.writeHead(401, { "content-type": "application/json" }).end("{}")
    return sendStream(
      response,
      [piece({ content: "Deep." }), piece({}, "stop")].map((data) => `data: ${data}\n\n`),
    )
  })
  const port = await findFreePort()
  const app = await startTideline({
    OPS_PORT: String(port),
    AI_GATEWAY_API_KEY: "a key",
    AI_GATEWAY_BASE_URL: baseUrl,
    CHAT_MODEL: "m",
    CHAT_RATE_LIMIT: "1000",
  })
  onTestFinished(() => app.stop())
  const person = await signUp(app, ada)
  const read = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)
  const gauges = async () => {
    const text = await (await read("/metrics")).text()
    return text.split("\n").filter((line) => line.startsWith("tideline_model_refusing_since_seconds{"))
  }
  const readiness = async () => {
    const response = await read("/readyz")
    return { status: response.status, ...((await response.json()) as object) }
  }
  const ask = async () => {
    const messages = [{ id: "q1", role: "user", parts: [{ type: "text", text: "How deep is the sea?" }] }]
    const response = await person("/api/chat", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ messages }),
    })
    return response.text()
  }

  expect(await ask()).toContain("Deep.")
  expect(await gauges()).toEqual(['tideline_model_refusing_since_seconds{status="none"} 0'])
  // The first slot of a database has to wait for the transactions that other test files have open.
  await expect.poll(readiness, { timeout: 20_000 }).toEqual(ready)

  isRefusing = true
  const before = Math.floor(Date.now() / 1000)
  expect(await ask()).toContain("The model server refused the request.")
  const [gauge, ...others] = await gauges()
  expect(others).toEqual([])
  const [, since] = /^tideline_model_refusing_since_seconds\{status="401"\} ([\d.]+)$/.exec(gauge ?? "") ?? []
  expect(Number(since)).toBeGreaterThanOrEqual(before)
  expect(Number(since)).toBeLessThanOrEqual(Date.now() / 1000)
  // Every process has the same problem, so none of them becomes unready.
  expect(await readiness()).toEqual({
    ...ready,
    checks: {
      ...ready.checks,
      model: `The model server rejects the key (status 401). Check AI_GATEWAY_API_KEY. Since ${new Date(Math.round(Number(since) * 1000)).toISOString()}.`,
    },
  })

  // It stays the same problem, with its original start time.
  await ask()
  expect(await gauges()).toEqual([gauge])

  isRefusing = false
  expect(await ask()).toContain("Deep.")
  expect(await gauges()).toEqual(['tideline_model_refusing_since_seconds{status="none"} 0'])
  expect(await readiness()).toEqual(ready)
})
