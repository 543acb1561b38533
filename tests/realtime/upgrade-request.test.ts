import type { IncomingMessage } from "node:http"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { expect, it, onTestFinished } from "vitest"
import { startEngine } from "./support/engine.ts"
import { engineSuite } from "./support/suite.ts"

const suite = engineSuite()

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void

it("the upgrade request of an open connection is not kept in memory", async () => {
  const requests: WeakRef<IncomingMessage>[] = []
  const engine = await startEngine(suite.databaseUrl, undefined, {
    addressOf: (request) => {
      requests.push(new WeakRef(request))
      return "192.0.2.1"
    },
  })
  onTestFinished(() => engine.close())
  await suite.connect("ada", engine.url)
  await suite.connect("ada", engine.url)
  expect(requests.length).toBeGreaterThan(1)
  // Node's HTTP server may still refer to the newest one.
  const first = requests[0]
  await expect
    .poll(() => {
      collectGarbage()
      return first?.deref()
    })
    .toBeUndefined()
  expect(engine.realtime.connectionsOf("ada")).toHaveLength(2)
})
