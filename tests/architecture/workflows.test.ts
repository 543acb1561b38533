import { readdirSync, readFileSync } from "node:fs"
import { registerHooks } from "node:module"
import { join, resolve } from "node:path"
import { describe, expect, it } from "vitest"
import packageJson from "../../package.json" with { type: "json" }

// The parser imports JSON without an import attribute, which Node refuses.
const hooks = registerHooks({
  load: (url, context, next) =>
    next(url, url.endsWith(".json") ? { ...context, importAttributes: { type: "json" } } : context),
})
const parser = await import("@actions/workflow-parser")
hooks.deregister()

const folder = resolve(import.meta.dirname, "../../.github/workflows")
const workflows = readdirSync(folder).map((name) => ({
  name,
  content: readFileSync(join(folder, name), "utf8"),
}))

describe.each(workflows)("the workflow $name", (file) => {
  it("is valid, expressions included", async () => {
    expect(await faultsOf(file)).toEqual([])
  })

  it("pins every action to a commit and names its version", () => {
    const used = [...file.content.matchAll(/uses: (.+)/g)].map(([, action]) => action)
    for (const action of used) expect(action).toMatch(/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  it("runs npm scripts that exist", () => {
    const scripts = [...file.content.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, script]) => script)
    expect(scripts.filter((script) => !Object.keys(packageJson.scripts).includes(script ?? ""))).toEqual([])
  })

  it("has read-only permissions unless a job asks for more", () => {
    expect(file.content).toMatch(/^permissions:\n {2}contents: read$/m)
  })
})

it.each(["release.yml", "nightly.yml"])(
  "the workflow %s compares the lockfile with known vulnerabilities, before anything is installed",
  (file) => {
    const { content = "" } = workflows.find(({ name }) => name === file) ?? {}
    const compared = content.indexOf("run: npm run vulnerabilities")
    expect(compared).toBeGreaterThan(0)
    const job = content.slice(content.lastIndexOf("steps:", compared), compared)
    expect(job).not.toMatch(/npm ci|continue-on-error/)
  },
)

describe("the workflow check", () => {
  const good = workflows.find(({ name }) => name === "pull-request.yml")?.content ?? ""

  it.each([
    ["a key that does not exist", good.replace("runs-on:", "run-on:")],
    ["a job that waits for one that is missing", good.replace("needs: test", "needs: tests")],
    ["an expression with an unknown function", good.replace("!cancelled()", "!canceled()")],
    ["text that is not YAML", `${good}\n  - {`],
  ])("finds %s", async (_, content) => {
    expect(content).not.toBe(good)
    expect(await faultsOf({ name: "planted.yml", content })).not.toEqual([])
  })
})

/** What GitHub would reject. */
async function faultsOf(file: { name: string; content: string }): Promise<string[]> {
  const { context, value } = parser.parseWorkflow(file, new parser.NoOperationTraceWriter())
  if (value) await parser.convertWorkflowTemplate(context, value)
  return context.errors.getErrors().map(({ message }) => message)
}
