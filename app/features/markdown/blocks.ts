import { Lexer, Marked, type Token } from "marked"
import { footnoteExtensions, mayHoldFootnotes } from "./footnote-tokens.ts"
import { mathExtensions, mayHoldMath } from "./math-tokens.ts"
import { repairEnd } from "./growing.ts"

/** Characters. A longer text is shown as plain text: laying it out would block the page. */
const LONGEST = 200_000

/** Characters without an empty line. Parsing a paragraph takes time quadratic in its length. */
const LONGEST_PARAGRAPH = 20_000

/** More would create too many elements. */
const MOST_PARAGRAPHS = 5_000

const optionsOf = {
  plain: new Marked().defaults,
  math: new Marked({ extensions: mathExtensions }).defaults,
  footnotes: new Marked({ extensions: footnoteExtensions }).defaults,
  both: new Marked({ extensions: [...mathExtensions, ...footnoteExtensions] }).defaults,
}

interface Reading {
  text: string
  blocks: Token[]
}

/**
 * Returns a parser for one text that grows. It parses only the end again, and blocks that did not
 * change keep their identity. `read` returns null for a text that is to be shown as plain text.
 */
export function createBlockReader() {
  let last: Reading = { text: "", blocks: [] }
  /** The last blocks as parsed, without the repair of the end. */
  let settled: Reading = last

  function read(given: string, { isGrowing }: { isGrowing: boolean }): readonly Token[] | null {
    const text = given.replace(/\r\n?/g, "\n")
    try {
      return isGrowing ? readGrowing(text) : readWhole(text)
    } catch {
      return null // The parser is recursive, and a text can be made to exhaust the stack.
    }
  }

  function readWhole(text: string) {
    if (!isReadable(text)) return null
    const blocks = lex(text)
    const hasReferences = blocks.some(({ type }) => type === "def")
    // A changed reference changes what the same text renders to.
    last = { text, blocks: hasReferences ? blocks : keepSame(last.blocks, blocks) }
    settled = last
    return shownOf(last.blocks)
  }

  function readGrowing(text: string) {
    const kept = text.startsWith(settled.text) ? withoutEnd(settled.blocks) : []
    const begin = kept.reduce((length, { raw }) => length + raw.length, 0)
    const end = text.slice(begin)
    if (text.length > LONGEST || !isReadable(end)) return null
    const tail = lex(end)
    settled = { text, blocks: [...kept, ...keepSame(settled.blocks.slice(kept.length), tail)] }
    const repaired = repairTail(tail)
    last = { text, blocks: repaired ? [...settled.blocks.slice(0, -1), ...repaired] : settled.blocks }
    return shownOf(last.blocks)
  }

  return { read }
}

/**
 * Drops the last blocks, which further text may turn into something else; the ones before them are
 * final.
 */
function withoutEnd(blocks: Token[]): Token[] {
  const ends = blocks.findLastIndex(({ type }) => type !== "space")
  return blocks.slice(0, Math.max(0, ends - 1))
}

function repairTail(tail: Token[]): Token[] | null {
  const end = tail.at(-1)
  if (!end || end.type === "code" || end.type === "space" || end.type === "math") return null
  const repaired = repairEnd(end.raw)
  return repaired === end.raw ? null : lex(repaired)
}

function lex(text: string): Token[] {
  const hasMath = mayHoldMath(text)
  const kind = mayHoldFootnotes(text) ? (hasMath ? "both" : "footnotes") : hasMath ? "math" : "plain"
  return new Lexer(optionsOf[kind]).lex(text)
}

function shownOf(blocks: readonly Token[]) {
  return blocks.filter(({ type }) => type !== "space" && type !== "def")
}

function keepSame(before: readonly Token[], now: Token[]): Token[] {
  return now.map((token, at) => {
    const known = before[at]
    return known?.type === token.type && known.raw === token.raw ? known : token
  })
}

function isReadable(text: string) {
  if (text.length > LONGEST || isTooDeep(text)) return false
  const paragraphs = text.split(/\n{2,}/)
  return (
    paragraphs.length <= MOST_PARAGRAPHS &&
    paragraphs.every((paragraph) => paragraph.length <= LONGEST_PARAGRAPH)
  )
}

/**
 * Whether markers of quotations, or indents of lists, are nested deeper than anybody writes them.
 */
function isTooDeep(text: string) {
  return /^[ \t]*(?:(?:>|[-*+]|\d+[.)])[ \t]*){40}/m.test(text) || /^[ \t]{200}/m.test(text)
}
