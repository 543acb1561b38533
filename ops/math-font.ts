/**
 * npm run math-font   writes the font of formulas: the part of STIX Two Math that KaTeX's commands
 * use, which is a third of the whole. A test compares it with the installed package.
 */
import { readFile, writeFile } from "node:fs/promises"
import { resolve } from "node:path"
import subsetFont from "subset-font"

const root = resolve(import.meta.dirname, "..")
const whole = resolve(
  root,
  "node_modules/@fontsource/stix-two-math/files/stix-two-math-latin-400-normal.woff2",
)

export const mathFontFile = resolve(root, "app/features/markdown/math-font.woff2")

/** First and last code point of each range. */
const RANGES: [first: number, last: number][] = [
  [0x20, 0x7e],
  [0xa0, 0xff],
  [0x131, 0x131],
  [0x2c6, 0x2dd],
  [0x300, 0x338],
  // Greek
  [0x391, 0x3f6],
  // Punctuation, primes, accents and letters of its own
  [0x2010, 0x2037],
  [0x2057, 0x2064],
  [0x20d0, 0x20ef],
  [0x2100, 0x214b],
  // Arrows and operators
  [0x2190, 0x21db],
  [0x2200, 0x22ff],
  [0x2a00, 0x2a0c],
  // Italic, bold, script, Fraktur, double-struck, sans-serif and monospaced letters and digits
  [0x1d400, 0x1d467],
  [0x1d49c, 0x1d4cf],
  [0x1d504, 0x1d56b],
  [0x1d5a0, 0x1d5d3],
  [0x1d670, 0x1d6a3],
  [0x1d6a4, 0x1d71b],
  [0x1d7ce, 0x1d7d7],
]

const OTHERS = "⌈⌉⌊⌋⟨⟩⟦⟧⎰⎱⏞⏟⏜⏝⎴⎵□△▽◁▷◊○●■▲▼★♠♡♢♣♭♮♯✓⟵⟶⟷⟸⟹⟺⟼⟮⟯⩽⩾⪅⪆⪇⪈⪉⪊⪋⪌⪕⪖⪯⪰≔⨿⫅⫆⫋⫌"

export async function makeMathFont(): Promise<Buffer> {
  const points = RANGES.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, at) => first + at),
  )
  const text = String.fromCodePoint(...points) + OTHERS
  return subsetFont(await readFile(whole), text, { targetFormat: "woff2" })
}

if (import.meta.main) await writeFile(mathFontFile, await makeMathFont())
