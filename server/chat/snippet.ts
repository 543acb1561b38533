import type { Snippet } from "./read-operations.ts"

/** Characters of a snippet, and how many of them precede the match. */
const LENGTH = 180
const BEFORE = 60

const MARKS = 20

/**
 * Cuts the text around the first match of a term out of each text, on one line, or its beginning if
 * there is no match.
 */
export function findSnippets(terms: string[]): (text: string) => Snippet {
  const patterns = terms.map((term, index) => patternOf(term, index === terms.length - 1))
  const pattern = new RegExp(patterns.join("|"), "giu")
  return (text) => snippetOf(text, pattern)
}

function snippetOf(text: string, pattern: RegExp): Snippet {
  const line = text.replace(/\s+/g, " ").trim()
  const first = line.search(pattern)
  const from = first <= BEFORE ? 0 : nextWord(line, first - BEFORE, first)
  const to = line.length - from <= LENGTH ? line.length : lastWord(line, from + LENGTH)
  const opening = from > 0 ? "…" : ""
  const shift = opening.length - from
  return {
    text: `${opening}${line.slice(from, to)}${to < line.length ? "…" : ""}`,
    matches: findPlaces(line, pattern, from)
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

/** No more than are marked are looked for: a long text may have thousands. */
function findPlaces(line: string, pattern: RegExp, from: number): [number, number][] {
  pattern.lastIndex = from
  const places: [number, number][] = []
  for (const match of line.matchAll(pattern)) {
    if (places.push([match.index, match.index + match[0].length]) === MARKS) break
  }
  return places
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
