import type { Budget } from "./budget.ts"
import { withDetails } from "./details.ts"
import { repairEnd } from "./growing.ts"
import { parse, type Parsed } from "./parse.ts"
import type { Block } from "./tokens.ts"

/** Characters. A longer text is shown as plain text: laying it out would block the page. */
const LONGEST = 200_000

/** Characters without an empty line, outside of code. */
const LONGEST_PARAGRAPH = 20_000

/** More would create too many elements. */
const MOST_PARAGRAPHS = 5_000

/** Elements of one text. */
const MOST_ELEMENTS = 30_000

/**
 * Milliseconds for one text in a browser. The longest that people write take a few, but the device
 * may be slow or busy.
 */
const LONGEST_TIME = 200

/**
 * Returns a parser for one text that grows. It parses only the end again, and blocks that did not
 * change keep their identity. `read` returns null for a text that is to be shown as plain text, and
 * shows what exceeds its budget as it was written.
 */
export function createBlockReader() {
  let last: Block[] = []
  /** The last text and its blocks as parsed, without the repair of the end. */
  let settled: { text: string; blocks: Block[] } = { text: "", blocks: [] }

  function read(
    given: string,
    { isGrowing, budget = newBudget() }: { isGrowing: boolean; budget?: Budget },
  ): readonly Block[] | null {
    const { thoughts, text } = splitThoughts(given.replace(/\r\n?/g, "\n").replaceAll("\0", "\ufffd"))
    try {
      const blocks = isGrowing ? readGrowing(text, budget) : readWhole(text, budget)
      if (!blocks) return null
      return [...thoughts, ...withDetails(blocks, isGrowing)]
    } catch {
      return null // The parser is recursive, and a text can be made to exhaust the stack.
    }
  }

  function readWhole(text: string, budget: Budget) {
    if (!isReadable(text)) return null
    const { blocks, hasReferences } = parse(text, budget)
    // A changed reference changes what the same text renders to.
    last = hasReferences ? blocks : keepSame(last, blocks)
    settled = { text, blocks: last }
    return last
  }

  function readGrowing(text: string, budget: Budget) {
    const kept = text.startsWith(settled.text) ? withoutEnd(settled.blocks) : []
    const begin = kept.reduce((length, { raw }) => length + (raw?.length ?? 0), 0)
    const end = text.slice(begin)
    if (text.length > LONGEST || !isReadable(end)) return null
    const tail = parse(end, budget).blocks
    settled = { text, blocks: [...kept, ...keepSame(settled.blocks.slice(kept.length), tail)] }
    const repaired = repairTail(tail, budget)
    last = repaired ? [...settled.blocks.slice(0, -1), ...repaired] : settled.blocks
    return last
  }

  return { read }
}

function newBudget(): Budget {
  return { elements: MOST_ELEMENTS, until: wallTime() + LONGEST_TIME, now: wallTime }
}

/**
 * Drops the last blocks, which further text may turn into something else; the ones before them are
 * final. A list or a footnote also goes on below an empty line.
 */
function withoutEnd(blocks: Block[]): Block[] {
  const before = blocks.at(-2)
  const isFinal =
    before && before.type !== "list" && before.type !== "footnote" && /\n[ \t]*\n$/.test(before.raw ?? "")
  return blocks.slice(0, isFinal ? -1 : -2)
}

function repairTail(tail: Block[], budget: Budget): Parsed["blocks"] | null {
  const end = tail.at(-1)
  if (!end?.raw || end.type === "codeBlock" || end.type === "math" || /\n[ \t]*\n$/.test(end.raw)) return null
  const repaired = repairEnd(end.raw)
  return repaired === end.raw ? null : parse(repaired, budget).blocks
}

function keepSame(before: readonly Block[], now: Block[]): Block[] {
  return now.map((block, at) => {
    const known = before[at]
    return known?.type === block.type && known.raw === block.raw ? known : block
  })
}

/**
 * Models that think aloud mark where that ends. One whose template has already opened `<think>`
 * writes the end alone.
 */
function splitThoughts(text: string): { thoughts: Block[]; text: string } {
  const end = text.includes("</think>") ? /^[ \t]*<\/think>|<\/think>[ \t]*$/m.exec(text) : null
  if (!end) return { thoughts: [], text }
  const before = text.slice(0, end.index)
  if (before.includes("<think>") || isInCode(before)) return { thoughts: [], text }
  const thought = before.trim()
  return {
    thoughts: thought ? [{ type: "thoughts", text: thought }] : [],
    text: text.slice(end.index + end[0].length).replace(/^\s+/, ""),
  }
}

function isInCode(before: string) {
  return (before.match(/^ {0,3}(?:```|~~~)/gm) ?? []).length % 2 === 1
}

function isReadable(text: string) {
  if (text.length > LONGEST || isTooDeep(text)) return false
  const paragraphs = text.split(/\n{2,}/)
  return paragraphs.length <= MOST_PARAGRAPHS && !hasLongParagraph(text)
}

/** Lines of code are not read, so a block of them may be long. */
function hasLongParagraph(text: string) {
  let length = 0
  let fence = ""
  for (const line of text.split("\n")) {
    const mark = /^[ \t>]*(`{3,}|~{3,})/.exec(line)?.[1] ?? ""
    if (fence) {
      if (mark.startsWith(fence)) fence = ""
      continue
    }
    fence = mark
    length = line === "" ? 0 : length + line.length + 1
    if (length > LONGEST_PARAGRAPH) return true
  }
  return false
}

/**
 * Whether markers of quotations, or indents of lists, are nested deeper than anybody writes them.
 */
function isTooDeep(text: string) {
  return /^[ \t]*(?:(?:>|[-*+]|\d+[.)])[ \t]*){40}/m.test(text) || /^[ \t]{200}/m.test(text)
}

function wallTime() {
  return performance.now()
}
