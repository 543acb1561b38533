import type { MarkdownIt, StateBlock, StateInline } from "markdown-it"

/** Characters of one formula. */
const LONGEST = 4_000

/** Whether a text can hold a formula at all. */
export function mayHoldMath(text: string): boolean {
  return /\$|\\[([]/.test(text)
}

/** `$…$`, `$$…$$`, `\(…\)` and `\[…\]`, the second and the last also on lines of their own. */
export function readMath(parser: MarkdownIt) {
  parser.block.ruler.before("fence", "math", mathBlock, {
    alt: ["paragraph", "reference", "blockquote", "list"],
  })
  parser.inline.ruler.before("escape", "math", mathInline)
}

/**
 * Replaces each `|` inside a formula of a line, because the columns of a table are split before
 * formulas are read. The length stays, and `withPipes` puts them back.
 */
export function withoutPipes(text: string): string {
  if (!text.includes("|") || !mayHoldMath(text) || text.includes(PIPE)) return text
  return text.replace(/^.*\|.*$/gm, (line) => {
    let shown = ""
    for (let at = 0; at < line.length;) {
      const found = "$\\".includes(line.charAt(at)) ? readFormula(line, at) : null
      const end = found?.end ?? at + (line[at] === "\\" ? 2 : 1)
      const part = line.slice(at, end)
      shown += found ? part.replaceAll("|", PIPE) : part
      at = end
    }
    return shown
  })
}

export function withPipes(text: string): string {
  return text.includes(PIPE) ? text.replaceAll(PIPE, "|") : text
}

/** Of the private use area: no text that is shown needs it. */
const PIPE = "\ue07c"

function mathBlock(state: StateBlock, line: number, endLine: number, silent: boolean): boolean {
  if ((state.sCount[line] ?? 0) - state.blkIndent >= 4) return false
  const begin = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0)
  const open = state.src.slice(begin, begin + 2)
  const close = open === "$$" ? "$$" : open === "\\[" ? "\\]" : null
  if (close === null || (close === "\\]" && !hasEnd(state, begin))) return false
  let length = 0
  for (let last = line; last < endLine && length < LONGEST; last++) {
    const from = last === line ? begin + 2 : (state.bMarks[last] ?? 0) + (state.tShift[last] ?? 0)
    const text = state.src.slice(from, state.eMarks[last])
    if (last > line && (text.trim() === "" || (state.sCount[last] ?? 0) < state.blkIndent)) return false
    const at = text.indexOf(close)
    if (at >= 0) {
      if (text.slice(at + 2).trim() !== "") return false
      const tex = formulaIn(state, line, last, close)
      if (!tex) return false
      if (silent) return true
      const token = state.push("math", "", 0)
      token.content = tex
      token.map = [line, last + 1]
      state.line = last + 1
      return true
    }
    length += text.length
  }
  return false
}

/** Asked at every line of a text that may hold nothing but beginnings. */
function hasEnd({ src }: StateBlock, begin: number) {
  if (lastEnd.src !== src) lastEnd = { src, at: src.lastIndexOf("\\]") }
  return begin < lastEnd.at
}

let lastEnd = { src: "", at: -1 }

function formulaIn(state: StateBlock, line: number, last: number, close: string) {
  const lines = state.getLines(line, last + 1, state.blkIndent, false).trim()
  return lines.slice(2, lines.lastIndexOf(close)).trim()
}

function mathInline(state: StateInline, silent: boolean): boolean {
  const found = readFormula(state.src, state.pos, state.posMax)
  if (!found) return false
  if (!silent) {
    const token = state.push("math", "", 0)
    token.content = found.tex
    token.meta = { isBlock: found.isBlock }
  }
  state.pos = found.end
  return true
}

interface Formula {
  tex: string
  end: number
  isBlock: boolean
}

function readFormula(text: string, at: number, end = text.length): Formula | null {
  const sign = text[at]
  if (sign !== "$" && sign !== "\\") return null
  const display = readBetween(text, at, end, "$$", "$$") ?? readBetween(text, at, end, "\\[", "\\]")
  if (display) return { ...display, isBlock: true }
  const found = readBetween(text, at, end, "\\(", "\\)") ?? (sign === "$" ? readDollars(text, at, end) : null)
  return found && { ...found, isBlock: false }
}

function readBetween(text: string, at: number, end: number, open: string, close: string) {
  if (!text.startsWith(open, at)) return null
  const begin = at + open.length
  const inner = text.slice(begin, Math.min(end, begin + LONGEST))
  const length = inner.indexOf(close)
  const tex = length < 0 ? "" : inner.slice(0, length).trim()
  return tex ? { tex, end: begin + length + close.length } : null
}

/** Looks no further than one formula of a sentence would reach. */
const LONGEST_IN_LINE = 500

/**
 * A single dollar sign is more often money. The formula must touch both signs, which touch no word
 * or number on their other side, as in `US$5/month, a$ap` and `from $5 to $10`.
 */
function readDollars(text: string, at: number, end: number) {
  if (at > 0 && /[A-Za-z\d$]/.test(text.charAt(at - 1))) return null
  const inner = text.slice(at + 1, Math.min(end, at + 1 + LONGEST_IN_LINE))
  const found = /^(?![\s$])((?:\\[^\n]|[^$\\\n])+)\$(?!\d|\$|(?!(?:th|st|nd|rd|s)\b)[A-Za-z])/.exec(inner)
  const tex = found?.[1]
  if (!found || !tex || /\s$/.test(tex)) return null
  return isMoney(tex, inner.slice(found[0].length)) ? null : { tex, end: at + 1 + found[0].length }
}

/** Also `$1,550 less a year; R$ 10`, where the second sign belongs to a currency of its own. */
function isMoney(tex: string, after: string) {
  const isAmount = /^\d[\d.,]*\s?(?:[kKMB]|bn|%)?(?![\w\\^{])/.test(tex)
  const hasWords = /(?<![\\\p{L}{])\p{L}{3,}(?![\p{L}(}])|\s\p{L}{2,}\s/u.test(tex)
  if (isAmount && hasWords && !/[\\^_{}=]/.test(tex)) return true
  return /(?:^|[\s(;,/])(?:R|[ACS]|[A-Z]{2,3})$/.test(tex) && /^\s?\d/.test(after)
}
