import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { ConfigError } from "#server/config.ts"
import { loadEnvironment } from "#server/environment.ts"

describe("a setting with _FILE at the end of its name", () => {
  it("uses the content of that file, without surrounding white space", () => {
    const file = fileOf("postgres://tideline:word@postgres:5432/tideline\n")
    expect(load({ DATABASE_URL_FILE: file })["DATABASE_URL"]).toBe(
      "postgres://tideline:word@postgres:5432/tideline",
    )
    expect(load({ DATABASE_URL_FILE: file, DATABASE_URL: "" })["DATABASE_URL"]).toMatch(/^postgres:/)
  })

  it("counts as missing when it is empty", () => {
    expect(load({ DATABASE_URL_FILE: "" })["DATABASE_URL"]).toBeUndefined()
  })

  it("is ignored if there is no such setting", () => {
    expect(load({ LOGO_FILE: "/nowhere" })).toEqual({ LOGO_FILE: "/nowhere" })
  })

  it("is rejected beside the setting itself or if the file cannot be read, listing all errors without values", () => {
    const problems = problemsOf({
      AUTH_SECRET: "tell-nobody",
      AUTH_SECRET_FILE: fileOf("tell-nobody-either"),
      SMTP_URL_FILE: "/nowhere/smtp-url",
    })
    expect(problems).toEqual([
      "AUTH_SECRET and AUTH_SECRET_FILE are both set. Keep one of them.",
      "SMTP_URL_FILE names a file that cannot be read (ENOENT).",
    ])
  })
})

const NO_FILES = { file: "/nowhere/.env", example: "/nowhere/.env.example" }

function load(environment: Record<string, string>) {
  return loadEnvironment(NO_FILES, environment)
}

function problemsOf(environment: Record<string, string>) {
  try {
    load(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.toSorted()
    throw error
  }
  throw new Error("These settings were accepted.")
}

function fileOf(content: string) {
  const folder = mkdtempSync(join(tmpdir(), "tideline-settings-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, "value")
  writeFileSync(file, content)
  return file
}
