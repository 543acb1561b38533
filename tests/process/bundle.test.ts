import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { expect, it } from "vitest"

const root = resolve(import.meta.dirname, "../..")
const transports = join(root, "node_modules/engine.io-client/build/esm/transports")

// vite.config.ts replaces a file inside engine.io-client, which any new version may move.
it("browsers receive the WebSocket transport of the realtime client, without polling", () => {
  const assets = join(root, "build/client/assets")
  const scripts = readdirSync(assets).filter((name) => name.endsWith(".js"))
  const sent = scripts.map((name) => readFileSync(join(assets, name), "utf8")).join("\n")
  for (const [file, words, isSent] of [
    ["websocket.js", "websocket error", true],
    ["polling-xhr.js", "xhr poll error", false],
  ] as const) {
    expect(readFileSync(join(transports, file), "utf8"), file).toContain(`"${words}"`)
    expect(sent.includes(words), words).toBe(isSent)
  }
})

it("the server starts with bytecode from the build, and compiles none of its modules", async () => {
  const { stderr } = await promisify(execFile)(
    process.execPath,
    [join(root, "build/server/index.js"), "--compile"],
    { env: { NODE_ENV: "production", NODE_DEBUG_NATIVE: "COMPILE_CACHE" }, maxBuffer: 10_000_000 },
  )
  const modules = stderr.matchAll(/V8 code cache for ESM file:\/\/.*\/assets\/([\w-]+)\.js was (\w+)/g)
  const verdicts = [...modules].map(([, name, verdict]) => ({ name, verdict }))
  expect(verdicts.some(({ name }) => name?.startsWith("production-"))).toBe(true)
  expect(verdicts.filter(({ verdict }) => verdict !== "accepted")).toEqual([])
})
