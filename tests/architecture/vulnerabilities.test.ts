// cspell:ignore vulns
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { json, text } from "node:stream/consumers"
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from "vitest"
import { findFreePort } from "../support/ports.ts"

const SCRIPT = resolve(import.meta.dirname, "../../ops/vulnerabilities.ts")
const folder = mkdtempSync(join(tmpdir(), "tideline-vulnerabilities-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Query {
  package: { ecosystem: string; name: string }
  version: string
  page_token?: string
}

/** Like OSV, it knows left-pad 1.0.0 and, on two pages, @scope/wide 2.0.0. */
function findings({ package: { name }, version, page_token: page }: Query) {
  if (name === "left-pad" && version === "1.0.0") return { vulns: [{ id: "GHSA-one", modified: "" }] }
  if (name !== "@scope/wide" || version !== "2.0.0") return {}
  if (page) return { vulns: [{ id: "GHSA-three", modified: "" }] }
  return { vulns: [{ id: "GHSA-two", modified: "" }], next_page_token: "second" }
}

let asked: Query[]
beforeEach(() => (asked = []))

describe("npm run vulnerabilities", () => {
  it("passes a lockfile without known vulnerabilities, and asks about each package once", async () => {
    writeLock({
      "": { version: "9.9.9" },
      "node_modules/left-pad": { version: "1.0.1" },
      "node_modules/a/node_modules/left-pad": { version: "1.0.1" },
      "node_modules/alias": { name: "@scope/real", version: "3.0.0" },
      "node_modules/for-tests": { version: "1.0.0", dev: true },
    })
    const { code, output } = await run(await serve())
    expect([code, output]).toEqual([0, "3 packages, 0 known vulnerabilities that are not accepted\n"])
    expect(asked).toEqual(
      [
        ["left-pad", "1.0.1"],
        ["@scope/real", "3.0.0"],
        ["for-tests", "1.0.0"],
      ].map(([name, version]) => ({ package: { ecosystem: "npm", name }, version })),
    )
  })

  it("fails for a lockfile with known vulnerabilities, and names all of them", async () => {
    writeLock({
      "node_modules/left-pad": { version: "1.0.0" },
      "node_modules/a/node_modules/@scope/wide": { version: "2.0.0" },
    })
    const { code, output } = await run(await serve())
    expect(code).toBe(1)
    expect(output).toContain("left-pad 1.0.0: GHSA-one What GHSA-one is (CVE-of-GHSA-one)\n")
    expect(output).toContain("@scope/wide 2.0.0: GHSA-two ")
    expect(output).toContain("@scope/wide 2.0.0: GHSA-three ")
    expect(output).toContain("2 packages, 3 known vulnerabilities that are not accepted")
  })

  it("passes what is accepted with a reason, and nothing beside it, by any of its names", async () => {
    writeLock({
      "node_modules/left-pad": { version: "1.0.0" },
      "node_modules/@scope/wide": { version: "2.0.0" },
    })
    onTestFinished(() => rmSync(join(folder, "accepted-vulnerabilities.json")))
    accept(["GHSA-one", "GHSA-two"])
    const url = await serve()
    expect(await run(url)).toMatchObject({
      code: 1,
      output: expect.stringContaining("GHSA-one (accepted: We never pad.)"),
    })
    accept(["GHSA-one", "CVE-of-GHSA-two", "GHSA-three"])
    expect((await run(url)).code).toBe(0)
  })

  it("asks about more packages than fit into one request", async () => {
    const many = Array.from(
      { length: 2500 },
      (_, at) => [`node_modules/p${at}`, { version: "1.0.0" }] as const,
    )
    writeLock({ ...Object.fromEntries(many), "node_modules/left-pad": { version: "1.0.0" } })
    const { code, output } = await run(await serve())
    expect([code, asked.length]).toEqual([1, 2501])
    expect(output).toContain("2501 packages, 1 known")
  })

  it.each([
    ["cannot be reached", async () => `http://127.0.0.1:${await findFreePort()}`, /ECONNREFUSED/],
    ["fails", () => serve({ status: 503, body: "{}" }), /It answered 503/],
    ["answers something else", () => serve({ status: 200, body: "{}" }), /with no results/],
    ["answers less than was asked", () => serve({ status: 200, body: '{"results":[]}' }), /with 0 results/],
    ["answers no JSON", () => serve({ status: 200, body: "<html>" }), /JSON/],
  ])("fails and says so if the service %s", async (_, start, reason) => {
    writeLock({ "node_modules/left-pad": { version: "1.0.1" } })
    const url = await start()
    const { code, output } = await run(url)
    expect(code).toBe(1)
    expect(output).toContain(`Nothing was compared with ${url}: `)
    expect(output).toMatch(reason)
  })

  it("fails for a lockfile without packages", async () => {
    writeLock({})
    expect(await run(await serve())).toMatchObject({
      code: 1,
      output: expect.stringContaining("has no packages"),
    })
  })

  it("reads the project's own lockfile", async () => {
    const { code, output } = await run(await serve(), [])
    expect(code).toBe(0)
    expect(asked.length).toBeGreaterThan(500)
    expect(output).toContain(`${asked.length} packages, 0 known`)
  })
})

function accept(ids: string[]) {
  const reasons = Object.fromEntries(ids.map((id) => [id, "We never pad."]))
  writeFileSync(join(folder, "accepted-vulnerabilities.json"), JSON.stringify(reasons))
}

function writeLock(packages: object) {
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify({ lockfileVersion: 3, packages }))
}

/** OSV's API, or an answer to everything. */
async function serve(fixed?: { status: number; body: string }): Promise<string> {
  const server = createServer((request, response) => {
    if (fixed) response.writeHead(fixed.status).end(fixed.body)
    else void answer(request, response)
  })
  onTestFinished(() => void server.close())
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function answer(request: IncomingMessage, response: ServerResponse) {
  const [, id] = /^\/v1\/vulns\/(.+)$/.exec(request.url ?? "") ?? []
  if (id) return response.end(JSON.stringify({ summary: `What ${id} is`, aliases: [`CVE-of-${id}`] }))
  const { queries } = (await json(request)) as { queries: Query[] }
  const isWelcome = request.method === "POST" && request.url === "/v1/querybatch" && queries.length <= 1000
  if (!isWelcome) return response.writeHead(400).end()
  asked.push(...queries)
  return response.end(JSON.stringify({ results: queries.map(findings) }))
}

async function run(url: string, args = [join(folder, "package-lock.json")]) {
  const child = spawn(process.execPath, [SCRIPT, ...args, "--osv", url])
  const exited = once(child, "exit")
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = (await exited) as [number]
  return { code, output: output + errors }
}
