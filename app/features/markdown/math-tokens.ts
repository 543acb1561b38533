import type { TokenizerExtension, Tokens } from "marked"

/** A formula in TeX, as a token. */
export interface MathToken extends Tokens.Generic {
  type: "math"
  tex: string
  /** On a line of its own. */
  isBlock: boolean
}

/** Characters of one formula. */
const LONGEST = 4_000

/**
 * Whether a text can hold a formula at all. Skips the extension where it cannot, because it tries
 * to match at every position.
 */
export function mayHoldMath(text: string): boolean {
  return /\$|\\[([]/.test(text)
}

/** `$$…$$` and `\[…\]` on lines of their own. */
const blockMath: TokenizerExtension = {
  name: "math",
  level: "block",
  start: (text) => /\n {0,3}(?:\$\$|\\\[)/.exec(firstParagraph(text))?.index,
  tokenizer(text) {
    const indent = /^ {0,3}/.exec(text)?.[0].length ?? 0
    const found = readBetween(text, "$$", "$$", indent) ?? readBetween(text, "\\[", "\\]", indent)
    const rest = found && /^[ \t]*(?:\n|$)/.exec(text.slice(found.end))
    if (!found || !rest) return undefined
    return { type: "math", raw: text.slice(0, found.end + rest[0].length), tex: found.tex, isBlock: true }
  },
}

/** `\(…\)`, `$…$`, and the above within a line. */
const inlineMath: TokenizerExtension = {
  name: "math",
  level: "inline",
  start: (text) => /\$|\\[([]/.exec(text)?.index,
  tokenizer(text) {
    const display = readBetween(text, "$$", "$$") ?? readBetween(text, "\\[", "\\]")
    const found = display ?? readBetween(text, "\\(", "\\)") ?? readDollars(text)
    if (!found) return undefined
    return { type: "math", raw: text.slice(0, found.end), tex: found.tex, isBlock: display !== null }
  },
}

export const mathExtensions = [blockMath, inlineMath]

/** Avoids scanning the rest of a long text for each of its paragraphs. */
function firstParagraph(text: string) {
  const end = text.indexOf("\n\n")
  return end < 0 ? text : text.slice(0, end)
}

function readBetween(text: string, open: string, close: string, from = 0) {
  if (!text.startsWith(open, from)) return null
  const begin = from + open.length
  const at = text.slice(begin, begin + LONGEST).indexOf(close)
  const tex = at < 0 ? "" : text.slice(begin, begin + at).trim()
  if (!tex || /\n[ \t]*\n/.test(tex)) return null
  return { tex, end: begin + at + close.length }
}

/**
 * A single dollar sign is more often money: the formula must touch both signs, and no digit may
 * follow, as in `from $5 to $10`.
 */
function readDollars(text: string) {
  const found = /^\$(?![\s$])((?:\\[^\n]|[^$\\\n])+)\$(?!\d)/.exec(text.slice(0, LONGEST))
  const tex = found?.[1]
  return found && tex && !/\s$/.test(tex) ? { tex, end: found[0].length } : null
}
