import { execFile } from "node:child_process"
import { join, resolve } from "node:path"
import { COMPILE_CACHE } from "./compile-cache.ts"

const root = resolve(import.meta.dirname, "../..")

/**
 * Runs an operator's command of the build, as the containers do, and resolves with how it ended.
 */
export function runBuiltCommand(
  name: string,
  words: string[],
  { folder, env }: { folder: string; env: Record<string, string> },
): Promise<{ code: number; output: string }> {
  return new Promise((done) => {
    const child = execFile(
      process.execPath,
      [join(root, `build/server/${name}.js`), ...words],
      {
        cwd: folder,
        env: {
          PATH: process.env["PATH"],
          NODE_ENV: "production",
          NODE_COMPILE_CACHE: COMPILE_CACHE,
          AUTH_SECRET: "a secret for tests, and for nothing else",
          ...env,
        },
      },
      (_error, out, errors) => done({ code: child.exitCode ?? -1, output: out + errors }),
    )
  })
}
