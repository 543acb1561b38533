import { spawnSync } from "node:child_process"
import { join, resolve } from "node:path"

/** Where `npm run test:chart` puts it. */
export const FETCHED_HELM = resolve(import.meta.dirname, "../../node_modules/.cache/helm/helm")

/** Helm of this machine, or the one that was fetched; null if there is neither. */
export const helm = ["helm", FETCHED_HELM].find((program) => !spawnSync(program, ["version"]).error) ?? null

/** Runs Helm, which has to be there. Resolves whatever the exit status is. */
export function runHelm(...words: string[]): { succeeded: boolean; output: string; errors: string } {
  const { status, stdout, stderr } = spawnSync(helm ?? "helm", words, {
    encoding: "utf8",
    // Neither settings nor repositories of the person who runs the tests.
    env: { PATH: process.env["PATH"], HELM_CONFIG_HOME: join(FETCHED_HELM, "../config") },
  })
  return { succeeded: status === 0, output: stdout, errors: stderr }
}
