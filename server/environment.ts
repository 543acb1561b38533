import { randomBytes } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { parseEnv } from "node:util"
import { ConfigError } from "./config.ts"
import { Settings } from "./settings.ts"
import { isSsoSetting } from "./sso-settings.ts"

type Environment = Record<string, string | undefined>

interface Files {
  file: string
  example: string
}

/**
 * The settings: those of the `.env` file, overridden by `environment`, where an empty value hides
 * the file's. If there is no file yet, one is written from `example` with new secrets. A name with
 * the suffix `_FILE`, such as AUTH_SECRET_FILE, names a file that contains the value. Throws a
 * ConfigError if that cannot be read, or if both are set.
 */
export function loadEnvironment(files: Files, environment: Environment): Environment {
  if (!existsSync(files.file) && existsSync(files.example)) writeSettings(files)
  return previewEnvironment(files, environment)
}

/** The same, but writes no file: secrets that are in none yet are others the next time. */
export function previewEnvironment({ file, example }: Files, environment: Environment): Environment {
  const text = existsSync(file)
    ? readFileSync(file, "utf8")
    : existsSync(example)
      ? createSettings(example)
      : ""
  return readNamedFiles({ ...parseEnv(text), ...environment })
}

function readNamedFiles(environment: Environment): Environment {
  const problems: string[] = []
  const read: Environment = {}
  const ofProviders = Object.keys(environment)
    .filter((name) => name.endsWith("_FILE") && isSsoSetting(name))
    .map((name) => name.slice(0, -"_FILE".length))
  for (const name of [...Object.keys(Settings.entries), ...ofProviders]) {
    const file = environment[`${name}_FILE`]
    if (!file) continue
    if (environment[name]) problems.push(`${name} and ${name}_FILE are both set. Keep one of them.`)
    else {
      try {
        read[name] = readFileSync(file, "utf8").trim()
      } catch (error) {
        const code = error instanceof Error && "code" in error ? String(error.code) : "unreadable"
        problems.push(`${name}_FILE names a file that cannot be read (${code}).`)
      }
    }
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return { ...environment, ...read }
}

function createSettings(example: string): string {
  return readFileSync(example, "utf8").replace(
    /^AUTH_SECRET=$/m,
    () => `AUTH_SECRET=${randomBytes(32).toString("base64")}`,
  )
}

/** Only its owner can read it. Another process may have written it first. */
function writeSettings({ file, example }: Files) {
  try {
    writeFileSync(file, createSettings(example), { flag: "wx", mode: 0o600 })
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error
  }
}
