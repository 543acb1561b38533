import { describe, expect, it } from "vitest"
import { ALL } from "../support/all.ts"
import { loseBlob } from "../drills/blob.ts"
import { runDrill } from "../drills/drills.ts"
import { loseSecret } from "../drills/secret.ts"

// The short form. All of them: npm run drill
describe("the documented way back", () => {
  it.runIf(ALL).each([loseBlob, loseSecret])(
    "from the loss of $loss brings everything back",
    async (drill) => {
      const { faults, seen, told } = await runDrill(drill)
      expect(faults).toEqual([])
      expect(seen.length).toBeGreaterThan(0)
      expect(told.length).toBeGreaterThan(0)
    },
  )
})
