import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { referenceFile, writeReference } from "../../ops/realtime-reference.ts"

it("docs/realtime-reference.md matches the server's declarations (npm run reference writes it)", () => {
  const written = readFileSync(referenceFile, "utf8")
  expect(written).toMatch(/^### `files\.list`$/m)
  expect(written === writeReference()).toBe(true)
})
