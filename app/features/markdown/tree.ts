import type { Token as Flat } from "markdown-it"
import { inlineTree } from "./inline-tree.ts"
import type { Block, Cell, ListItem } from "./tokens.ts"

/** Makes a tree of the flat tokens of the parser. */
export function treeOf(tokens: readonly Flat[], source: string): Block[] {
  const walk = walkOf(tokens, source)
  const { lines } = walk
  const blocks: Block[] = []
  const begins: number[] = []
  while (walk.at < tokens.length) {
    const line = tokens[walk.at]?.map?.[0] ?? 0
    const block = readBlock(walk)
    if (!block) continue
    blocks.push(block)
    begins.push(blocks.length === 1 ? 0 : (lines[line] ?? source.length))
  }
  blocks.forEach((block, at) => {
    block.raw = source.slice(begins[at], begins[at + 1] ?? source.length)
  })
  return blocks
}

/** Nesting of lists and quotations. Anything deeper is shown as it was written. */
const DEEPEST = 12

interface Walk {
  tokens: readonly Flat[]
  at: number
  depth: number
  source: string
  /** Where the lines of the source begin. */
  lines: readonly number[]
}

function walkOf(tokens: readonly Flat[], source: string): Walk {
  return { tokens, at: 0, depth: 0, source, lines: lineStarts(source) }
}

function lineStarts(source: string): number[] {
  const starts = [0]
  for (let at = source.indexOf("\n"); at >= 0; at = source.indexOf("\n", at + 1)) starts.push(at + 1)
  return starts
}

/** Reads the block that begins here, and goes past it. */
function readBlock(walk: Walk): Block | null {
  const token = walk.tokens[walk.at++]
  return token ? (readers[token.type]?.(token, walk) ?? null) : null
}

const readers: Record<string, (token: Flat, walk: Walk) => Block> = {
  heading_open: (token, walk) => ({
    type: "heading",
    depth: Number(token.tag.slice(1)),
    tokens: readInline(walk),
  }),
  paragraph_open: (token, walk) => ({
    type: "paragraph",
    tokens: readInline(walk),
    ...(token.hidden && { isTight: true }),
  }),
  fence: ({ content, info, map }) => ({
    type: "codeBlock",
    text: content.replace(/\n$/, ""),
    language: info.trim().split(/\s/, 1)[0] ?? "",
    isClosed: map !== null && map[1] - map[0] === linesOf(content) + 2,
  }),
  code_block: ({ content }) => ({
    type: "codeBlock",
    text: content.replace(/\n+$/, ""),
    language: "",
    isClosed: false,
  }),
  hr: () => ({ type: "rule" }),
  math: ({ content }) => ({ type: "math", tex: content, isBlock: true }),
  plain: ({ content }) => ({ type: "plain", text: content }),
  html_block: ({ content }) => ({ type: "html", text: content }),
  footnote: ({ info, children, meta }) => ({
    type: "footnote",
    label: info,
    blocks: readAll(walkOf(children ?? [], String(meta?.["source"]))),
  }),
  blockquote_open: (_, walk) => ({ type: "quotation", blocks: readAll(walk, "blockquote_close") }),
  bullet_list_open: (_, walk) => ({
    type: "list",
    isOrdered: false,
    start: 1,
    items: readItems(walk, "bullet_list_close"),
  }),
  ordered_list_open: (token, walk) => ({
    type: "list",
    isOrdered: true,
    start: Number(token.attrGet("start") ?? 1),
    items: readItems(walk, "ordered_list_close"),
  }),
  table_open: (_, walk) => readTable(walk),
}

function linesOf(content: string) {
  return content === "" ? 0 : content.replace(/\n$/, "").split("\n").length
}

function readAll(walk: Walk, end?: string): Block[] {
  if (walk.depth >= DEEPEST) return readAsWritten(walk)
  const blocks: Block[] = []
  walk.depth++
  while (walk.at < walk.tokens.length && walk.tokens[walk.at]?.type !== end) {
    const block = readBlock(walk)
    if (block) blocks.push(block)
  }
  walk.depth--
  walk.at++
  return blocks
}

/** Goes past the end of what is open. */
function readAsWritten(walk: Walk): Block[] {
  const first = walk.tokens[walk.at]?.map?.[0]
  let last = 0
  for (let open = 1; open > 0 && walk.at < walk.tokens.length; walk.at++) {
    const token = walk.tokens[walk.at]
    open += token?.nesting ?? 0
    last = Math.max(last, token?.map?.[1] ?? 0)
  }
  if (first === undefined) return []
  return [{ type: "plain", text: walk.source.slice(walk.lines[first], walk.lines[last]) }]
}

function readInline(walk: Walk) {
  const token = walk.tokens[walk.at]
  walk.at += 2 // and the end of the block
  return inlineTree(token?.children ?? [])
}

function readItems(walk: Walk, end: string): ListItem[] {
  const items: ListItem[] = []
  while (walk.at < walk.tokens.length && walk.tokens[walk.at]?.type !== end) {
    walk.at++
    items.push(readItem(readAll(walk, "list_item_close")))
  }
  walk.at++
  return items
}

/** A task begins with `[ ]` or `[x]`. */
function readItem(blocks: Block[]): ListItem {
  const [first] = blocks
  const isLoose = first?.type === "paragraph" && !first.isTight
  const text = first?.type === "paragraph" ? first.tokens[0] : undefined
  const task = text?.type === "text" ? /^\[([ xX])\]\s+/.exec(text.text) : null
  if (text?.type !== "text" || !task) return { isDone: null, isLoose, blocks }
  text.text = text.text.slice(task[0].length)
  return { isDone: task[1] !== " ", isLoose, blocks }
}

function readTable(walk: Walk): Block {
  const rows: Cell[][] = []
  for (;;) {
    const token = walk.tokens[walk.at++]
    if (!token || token.type === "table_close") break
    if (token.type === "tr_open") rows.push([])
    if (token.type !== "th_open" && token.type !== "td_open") continue
    const align = /center|right/.exec(String(token.attrGet("style") ?? ""))?.[0] ?? "left"
    rows.at(-1)?.push({ align: align as Cell["align"], tokens: readInline(walk) })
  }
  const [header = [], ...body] = rows
  return { type: "table", header, rows: body }
}
