import { resolve } from "node:path"
import { buildApp, isOutOfDate } from "#server/commands/bundle.ts"
import { installBrowser } from "./browser.ts"

const root = resolve(import.meta.dirname, "../..")

/** What the tests of the whole application run: the build, and a browser. */
export default async function build() {
  if (isOutOfDate(root)) await buildApp(root)
  installBrowser()
}
