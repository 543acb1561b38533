import { resolve } from "node:path"
import type { TestProject } from "vitest/node"
import { buildApp, isOutOfDate } from "#server/commands/bundle.ts"
import { installBrowser } from "./browser.ts"

const root = resolve(import.meta.dirname, "../..")

/**
 * What the tests of the whole application need: a browser and the build, which is made again when
 * `vitest` watches and a source changes.
 */
export default async function prepare(project: TestProject) {
  await refreshBuild()
  project.onTestsRerun(refreshBuild)
  installBrowser()
}

async function refreshBuild() {
  if (isOutOfDate(root)) await buildApp(root)
}
