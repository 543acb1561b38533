import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { makeMathFont, mathFontFile } from "../../ops/math-font.ts"

it("the font of formulas is made from the version in use (npm run math-font writes it)", async () => {
  expect((await makeMathFont()).equals(readFileSync(mathFontFile))).toBe(true)
})
