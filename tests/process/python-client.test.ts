import { spawn, spawnSync } from "node:child_process"
import { resolve } from "node:path"
import { createInterface } from "node:readline"
import { afterAll, beforeAll, describe, expect, onTestFinished } from "vitest"
import { inAll } from "../support/all.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { ada, signUp, type Person } from "../support/people.ts"
import { installPythonSocketio, PYTHON } from "../support/python-socketio.ts"

const program = resolve(import.meta.dirname, "../../live/python/tideline_live.py")

let app: TidelineApp
let adaAtHome: Person
let key: string

beforeAll(async () => {
  installPythonSocketio()
  app = await startTideline()
  adaAtHome = await signUp(app, ada)
  key = await adaAtHome.apiKey()
})

afterAll(() => app.stop())

describe("live/python", () => {
  inAll("follows a live query, and prints its rows after every change", async () => {
    const child = spawn(PYTHON, [program, "files.list"], { stdio: ["ignore", "pipe", "inherit"], env: env() })
    onTestFinished(() => void child.kill())
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    expect((await lines.next()).value).toBe("[]")
    await adaAtHome("/api/files?name=notes.txt", { method: "POST", body: "High water." })
    expect(JSON.parse(String((await lines.next()).value))).toMatchObject([{ fileName: "notes.txt" }])
  })

  inAll("runs a query once, and calls a mutation", async () => {
    const made = run("--call", "chat.createThread", '{"title":"Tides"}')
    expect(JSON.parse(made.stdout)).toMatchObject({ title: "Tides" })
    expect(JSON.parse(run("--query", "chat.listThreads").stdout)).toMatchObject([{ title: "Tides" }])
  })

  inAll("lists what the server describes", () => {
    expect(run("--list").stdout).toContain("  files.rename {fileId, fileName}\n")
  })

  inAll("ends with the refusal, or the reason", () => {
    expect(run("--query", "files.nothing")).toMatchObject({
      status: 1,
      stderr: "unknown: There is no query named files.nothing.\n",
    })
    expect(run("files.list", "{").stderr).toBe("The arguments are not JSON: {\n")
    key = "tide_unknown"
    expect(run("files.list")).toMatchObject({ status: 1, stderr: "The client ended: signed-out.\n" })
  })
})

function env() {
  return { PATH: process.env["PATH"], TIDELINE_URL: app.origin, TIDELINE_API_KEY: key }
}

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(PYTHON, [program, ...args], { env: env(), encoding: "utf8" })
  return { status, stdout, stderr }
}
