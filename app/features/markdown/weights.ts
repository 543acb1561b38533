import type { Block, Inline } from "./tokens.ts"

/** Roughly the number of elements that a block is rendered to. */
export function weigh(block: Block | Inline): number {
  const own = (WEIGHTS[block.type] ?? 1) + ("text" in block ? weighText(block.text) : 0)
  if ("tokens" in block) return own + sum(block.tokens)
  if ("blocks" in block) return own + sum(block.blocks)
  if (block.type === "list") return block.items.reduce((weight, item) => weight + 6 + sum(item.blocks), own)
  if (block.type !== "table") return own
  return [block.header, ...block.rows].flat().reduce((weight, cell) => weight + 1 + sum(cell.tokens), own)
}

/** A block costs more than the element that it becomes: it is rendered in its own turn, or part of one. */
const WEIGHTS: Partial<Record<(Block | Inline)["type"], number>> = {
  codeBlock: 20,
  details: 30,
  footnote: 12,
  heading: 5,
  html: 12,
  math: 8,
  paragraph: 4,
  plain: 4,
  quotation: 4,
  rule: 6,
  link: 3,
  footnoteReference: 8,
  text: 0.5,
}

function sum(tokens: readonly (Block | Inline)[]): number {
  return tokens.reduce((weight, token) => weight + weigh(token), 0)
}

export function weighText(text: string): number {
  return text.length / 200
}
