import type { Snippet } from "./contract.ts"

/** Characters of a snippet, and how many of them precede the match. */
const LENGTH = 180
const BEFORE = 60

const MARKS = 20

/**
 * The text around the first match of a term, on one line, or the beginning of the text if there is
 * no match.
 */
export function snippetOf(text: string, terms: string[]): Snippet {
  const line = text.replace(/\s+/g, " ").trim()
  const places = findPlaces(line, terms)
  const first = places[0]?.[0] ?? 0
  const from = first <= BEFORE ? 0 : nextWord(line, first - BEFORE, first)
  const to = line.length - from <= LENGTH ? line.length : lastWord(line, from + LENGTH)
  const opening = from > 0 ? "…" : ""
  const shift = opening.length - from
  return {
    text: `${opening}${line.slice(from, to)}${to < line.length ? "…" : ""}`,
    matches: places
      .filter(([start, end]) => start >= from && end <= to)
      .slice(0, MARKS)
      .map(([start, end]) => [start + shift, end + shift]),
  }
}

const CJK = String.raw`\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}`
const LETTER = String.raw`\p{Alphabetic}\p{N}`

/** Splits words like the database: see `search_words`. */
export const WORD = new RegExp(`[${CJK}]|(?:(?![${CJK}])[${LETTER}])+`, "gu")
const IS_CJK = new RegExp(`^[${CJK}]`, "u")

function findPlaces(line: string, terms: string[]): [number, number][] {
  const patterns = terms.map((term, index) => patternOf(term, index === terms.length - 1))
  const found = line.matchAll(new RegExp(patterns.join("|"), "giu"))
  return Array.from(found, (match) => [match.index, match.index + match[0].length])
}

/** The words contain only letters and digits, so no character is special in a pattern. */
function patternOf(term: string, isLast: boolean): string {
  const [first = "", ...others] = term.match(WORD) ?? []
  let pattern = (IS_CJK.test(first) ? "" : `(?<![${LETTER}])`) + first
  let before = first
  for (const word of others) {
    const between = IS_CJK.test(before) || IS_CJK.test(word) ? "*" : "+"
    pattern += `[^${LETTER}]${between}${word}`
    before = word
  }
  return isLast || IS_CJK.test(before) ? pattern : `${pattern}(?![${LETTER}])`
}

function nextWord(line: string, from: number, before: number): number {
  const space = line.indexOf(" ", from)
  return space >= 0 && space < before ? space + 1 : wholeCharacter(line, from)
}

function lastWord(line: string, to: number): number {
  const space = line.lastIndexOf(" ", to)
  return space > to - 30 ? space : wholeCharacter(line, to)
}

/** Not inside a surrogate pair. */
function wholeCharacter(line: string, at: number): number {
  return /[\uDC00-\uDFFF]/.test(line[at] ?? "") ? at - 1 : at
}
