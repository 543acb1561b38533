import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const unit = readFileSync(resolve(import.meta.dirname, "../../ops/systemd/tideline.service"), "utf8")
const hasSystemd = !spawnSync("systemd-analyze", ["--version"]).error

/** The value of a setting. */
const valueOf = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1]

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "systemd-"))
})
afterAll(() => rmSync(folder, { recursive: true }))

function analyze(text: string, ...words: string[]) {
  const path = join(folder, "tideline.service")
  // The program has to exist, and here it is elsewhere.
  writeFileSync(path, text.replace("/opt/tideline/node_modules/node/bin/node", process.execPath))
  const { status, stdout, stderr } = spawnSync("systemd-analyze", [...words, path], { encoding: "utf8" })
  return { status, output: stdout + stderr }
}

describe("the unit of systemd", () => {
  it("gives a process more time to stop than draining takes, and stops its PostgreSQL last", () => {
    expect(Number(valueOf("TimeoutStopSec"))).toBeGreaterThan(30)
    expect(valueOf("KillMode")).toBe("mixed")
    expect(Number(valueOf("LimitNOFILE"))).toBeGreaterThanOrEqual(21_000)
  })

  it.runIf(hasSystemd)("is valid", () => {
    expect(analyze(unit, "verify")).toEqual({ status: 0, output: "" })
    expect(analyze(unit.replace("ProtectClock", "ProtectTime"), "verify").output).toContain("ProtectTime")
  })

  it.runIf(hasSystemd)("is confined: systemd's exposure is at most 2 of 10", () => {
    const { status, output } = analyze(unit, "security", "--offline=yes", "--threshold=20")
    expect(status, output).toBe(0)
    const open = unit.replaceAll(/^(Protect|Private|Restrict|SystemCall|Capability|NoNew).*$/gm, "")
    expect(analyze(open, "security", "--offline=yes", "--threshold=20").status).not.toBe(0)
  })
})
