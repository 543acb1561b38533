import type { Browser } from "playwright-core"
import { afterAll, beforeAll } from "vitest"
import { launchBrowser } from "./browser.ts"
import { lazily } from "./lazily.ts"

/** Gives the tests of this file a browser. Call it at the top of the file, before its own hooks. */
export function withBrowser(): Browser {
  let browser: Browser | undefined
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())
  return lazily(() => browser)
}
