import { renderToString } from "katex"
import { describe, expect, it } from "vitest"
import { longestBlock } from "../support/longest-block.ts"
import { slowness } from "../support/longest-pass.ts"

const UNITS = [
  "x",
  "a'",
  "x^2+",
  "x^{",
  "\\frac{a}{b}",
  "\\frac{",
  "\\sqrt{",
  "\\left(",
  "\\begin{matrix}a&b\\\\",
  "\\def\\a{b}\\a",
  "\\hat{x}",
  "\\boxed{a}",
  "\\overline{",
  "漢",
]

describe("a formula of the greatest length", () => {
  it.each(UNITS)("is rendered in a moment: %s", async (unit) => {
    const begun = unit.repeat(Math.floor(3900 / unit.length))
    const open = begun.split("{").length - begun.split("}").length
    const tex = (begun + "}".repeat(Math.max(0, open))).slice(0, 4000)
    const draw = () => renderToString(tex, { output: "mathml", throwOnError: false, maxExpand: 500 })
    draw() // compiled
    const { milliseconds } = await longestBlock(draw)
    expect(milliseconds).toBeLessThanOrEqual(50 * slowness())
  })
})
