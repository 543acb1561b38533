import { afterAll, beforeAll } from "vitest"
import { lazily } from "./lazily.ts"

/**
 * Gives the tests of this file what `open` opens, and closes it after them: what is opened last is
 * closed first. Call it at the top of the file, before its own hooks.
 */
export function withResource<Value extends { close(): unknown }>(open: () => Promise<Value> | Value): Value {
  let value: Value | undefined
  beforeAll(async () => {
    value = await open()
  })
  afterAll(async () => {
    await value?.close()
  })
  return lazily(() => value)
}
