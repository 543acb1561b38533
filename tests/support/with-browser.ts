import type { Browser } from "playwright-core"
import { launchBrowser } from "./browser.ts"
import { withResource } from "./with-resource.ts"

/** Gives the tests of this file a browser. Call it at the top of the file, before its own hooks. */
export function withBrowser(): Browser {
  return withResource(launchBrowser)
}
