import { execFileSync, spawnSync } from "node:child_process"
import { resolve } from "node:path"
import { describe, expect, it } from "vitest"
import { judgeClient, SITUATIONS } from "../../live/conformance/run.ts"
import { installPythonSocketio, PYTHON } from "../support/python-socketio.ts"

const root = resolve(import.meta.dirname, "../..")
const ownClient = [process.execPath, resolve(import.meta.dirname, "conformance/own-client.ts")]
const foreignClient = [process.execPath, resolve(import.meta.dirname, "foreign-client/client.ts")]
const pythonClient = [PYTHON, resolve(root, "live/python/tideline_live.py"), "--conformance"]

describe("the conformance kit", () => {
  it("has at least fifty situations", () => {
    expect(Object.keys(SITUATIONS).length).toBeGreaterThanOrEqual(50)
  })

  it.concurrent("passes the browser's client", () => mustPass(ownClient))

  it.concurrent("passes a client that uses no library and no code of this project", () =>
    mustPass(foreignClient))

  it.concurrent("passes the Python client", () => {
    installPythonSocketio()
    return mustPass(pythonClient)
  })

  it.concurrent.each([
    ["shows a snapshot before its last part", "no parts", "a snapshot in two parts"],
    ["does not remove rows", "no removal", "remove removes a row"],
    ["loses what a merge leaves alone", "merge as put", "merge overwrites the fields that it names"],
  ])("fails a client that %s", async (_what, fault, situation) => {
    const verdicts = await judgeClient([...ownClient, fault], () => {}, situation)
    expect(verdicts).toHaveLength(1)
    expect(verdicts[0]?.failure).toMatch(/^(The rows of a|Size and name): expected \[.*\], found \[/)
  })

  it.concurrent("fails a client that does not start or ends, and says so", async () => {
    const [verdict] = await judgeClient(["/nowhere/client"], () => {}, "put adds a row")
    expect(verdict?.failure).toContain("ENOENT")
    const [ended] = await judgeClient([process.execPath, "-e", "process.exit(3)"], () => {}, "put adds a row")
    expect(ended?.failure).toBe("The client ended with 3.")
  })
})

describe("npm run live:conformance", () => {
  const command = resolve(root, "live/conformance/main.ts")

  it("prints each verdict and their number, and succeeds if all passed", () => {
    const args = [command, "--only", "put adds a row", ...foreignClient]
    expect(execFileSync(process.execPath, args, { encoding: "utf8" })).toBe(
      "ok    put adds a row\n\n1 of 1 situations passed.\n",
    )
  })

  it("fails if a situation does", () => {
    const { status, stdout } = spawnSync(
      process.execPath,
      [command, "--only", "remove removes a row", ...ownClient, "no removal"],
      { encoding: "utf8" },
    )
    expect(status).toBe(1)
    expect(stdout).toContain("FAIL  remove removes a row")
  })

  it("asks for a command, and does not succeed with situations that do not exist", () => {
    const { status, stderr } = spawnSync(process.execPath, [command], { encoding: "utf8" })
    expect([status, stderr]).toEqual([2, expect.stringContaining("Name the command")])
    expect(spawnSync(process.execPath, [command, "--only", "xyzzy", ...foreignClient]).status).toBe(1)
  })
})

async function mustPass(command: string[]): Promise<void> {
  const verdicts = await judgeClient(command, () => {})
  expect(verdicts.filter(({ failure }) => failure !== null)).toEqual([])
  expect(verdicts.map(({ situation }) => situation)).toEqual(Object.keys(SITUATIONS))
}
