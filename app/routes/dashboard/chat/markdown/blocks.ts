import { Lexer, Marked, type Token } from "marked"
import { footnoteExtensions, mayHoldFootnotes } from "./footnote-tokens.ts"
import { mathExtensions, mayHoldMath } from "./math-tokens.ts"
import { repairEnd } from "./growing.ts"

/** Characters. Past this a text is shown as it is: laying it out would hold the page up. */
const LONGEST = 200_000

/**
 * Characters without an empty line. The time to read one paragraph grows with the square of its
 * length.
 */
const LONGEST_PARAGRAPH = 20_000

/** More are elements without end. */
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
 * Reads one text again and again as it grows. Of a text that grew, only the end is parsed again,
 * and blocks that stayed what they were keep their identity. Null stands for a text that is not to
 * be laid out.
 */
export function createBlockReader() {
  let last: Reading = { text: "", blocks: [] }
  /** The last blocks as read, without the repair at the end. */
  let settled: Reading = last

  function read(given: string, { isGrowing }: { isGrowing: boolean }): readonly Token[] | null {
    const text = given.replace(/\r\n?/g, "\n")
    try {
      return isGrowing ? readGrowing(text) : readWhole(text)
    } catch {
      return null // the parser recurses, and a text can be made to exhaust its stack
    }
  }

  function readWhole(text: string) {
    if (!isReadable(text)) return null
    const blocks = lex(text)
    const hasReferences = blocks.some(({ type }) => type === "def")
    // What a reference means may have changed under the same words.
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
 * The last blocks may become something else with the next word; what stands before them will not.
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
 * Markers of quotations, or the indents of lists, one inside the other for longer than anybody
 * writes them.
 */
function isTooDeep(text: string) {
  return /^[ \t]*(?:(?:>|[-*+]|\d+[.)])[ \t]*){40}/m.test(text) || /^[ \t]{200}/m.test(text)
}
