import { randomBytes } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { parseEnv } from "node:util"

type Environment = Record<string, string | undefined>

/**
 * The settings: those of the `.env` file, and over them `environment`, where an empty value hides the file's.
 * Where there is no file yet, one is written from `example` with secrets of its own.
 */
export function loadEnvironment(
  files: { file: string; example: string },
  environment: Environment,
): Environment {
  if (!existsSync(files.file) && existsSync(files.example)) writeSettings(files)
  const fromFile: Environment = existsSync(files.file) ? parseEnv(readFileSync(files.file, "utf8")) : {}
  return { ...fromFile, ...environment }
}

/** Readable by its owner only. Another process may have written it first. */
function writeSettings({ file, example }: { file: string; example: string }) {
  const text = readFileSync(example, "utf8").replace(
    /^AUTH_SECRET=$/m,
    () => `AUTH_SECRET=${randomBytes(32).toString("base64")}`,
  )
  try {
    writeFileSync(file, text, { flag: "wx", mode: 0o600 })
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error
  }
}
