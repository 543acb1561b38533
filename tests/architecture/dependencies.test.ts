import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import lock from "../../package-lock.json" with { type: "json" }
import packageJson from "../../package.json" with { type: "json" }

interface Locked {
  version?: string
  resolved?: string
  integrity?: string
  hasInstallScript?: boolean
  link?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
}

const root = resolve(import.meta.dirname, "../..")
const locked = Object.entries(lock.packages as Record<string, Locked>).filter(([path]) => path !== "")

describe("every dependency", () => {
  it("has one exact version", () => {
    const { dependencies, devDependencies } = packageJson
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
      expect(version, name).toMatch(/^(npm:[\w@/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/)
  })

  it("comes from a registry, and with a digest if it runs in a container", () => {
    expect(locked.length).toBeGreaterThan(500)
    const odd = locked.filter(([, { resolved, integrity, link, optional, os, cpu }]) => {
      const isForOtherSystems = optional === true && (os ?? cpu) !== undefined
      return link || resolved || !(integrity?.startsWith("sha512-") || isForOtherSystems)
    })
    expect(odd.map(([path]) => path)).toEqual([])
  })

  it("runs no install script, except those listed", () => {
    const allowed = new Set(Object.keys(packageJson.allowScripts))
    const wanting = locked.filter(([, { hasInstallScript }]) => hasInstallScript)
    const names = wanting.map(([path]) => path.split("node_modules/").at(-1) ?? "")
    expect(names.length).toBeGreaterThan(0)
    expect(names.filter((name) => !allowed.has(name))).toEqual([])
    expect(readFileSync(join(root, "Dockerfile"), "utf8")).toMatch(/^RUN npm ci --ignore-scripts/m)
  })
})

describe("the secrets check", () => {
  it("finds a key left in a file", () => {
    const folder = mkdtempSync(join(tmpdir(), "tideline-secrets-"))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const key = ["-----BEGIN RSA PRIVATE", "KEY-----"].join(" ")
    writeFileSync(
      join(folder, "left.pem"),
      `${key}\n${"MIIEpAIBAAKCAQEA".repeat(20)}\n${key.replace("BEGIN", "END")}\n`,
    )
    expect(look(folder)).toContain("PrivateKey")
    writeFileSync(join(folder, "left.pem"), "nothing of worth\n")
    expect(look(folder)).toBe("")
  })
})

/** What `npm run secrets` reports about a folder. */
function look(folder: string): string {
  const secretlint = join(root, "node_modules/secretlint/bin/secretlint.js")
  const options = ["--secretlintrc", join(root, ".secretlintrc.json"), "--no-color", join(folder, "**/*")]
  try {
    return execFileSync(process.execPath, [secretlint, ...options], { cwd: root, encoding: "utf8" }).trim()
  } catch (error) {
    return String((error as { stdout: unknown }).stdout)
  }
}
