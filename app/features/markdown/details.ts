import type { Block } from "./tokens.ts"

const OPEN = /^<details(?: open)?>\s*(?:<summary>([^<]*)<\/summary>)?\s*(?:<br\s*\/?>)?/i
const CLOSE = /<\/details>$/i

/** Nesting. What is deeper is shown as it was written. */
const DEEPEST = 3

interface Open {
  block: Block
  summary: string
  /** What follows the summary in the same block. */
  own: Block[]
  inner: Block[]
}

/**
 * Puts what stands between `<details>` and its end into one block. That of a growing text has no end
 * yet.
 */
export function withDetails(blocks: readonly Block[], isGrowing: boolean): readonly Block[] {
  if (!blocks.some(({ type }) => type === "html")) return blocks
  const shown: Block[] = []
  const open: Open[] = []
  const add = (...more: Block[]) => (open.at(-1)?.inner ?? shown).push(...more)

  for (const block of blocks) {
    const html = block.type === "html" ? block.text.trim() : ""
    const begin = OPEN.exec(html)
    const isEnd = CLOSE.test(html)
    const text = html
      .slice(begin?.[0].length ?? 0)
      .replace(CLOSE, "")
      .trim()
    const own: Block[] = text ? [{ type: "plain", text }] : []
    if (begin && (isEnd || open.length < DEEPEST)) {
      open.push({ block, summary: begin[1]?.trim() ?? "", own, inner: [] })
      if (isEnd) end()
    } else if (isEnd && open.length > 0) {
      add(...own)
      end()
    } else add(block)
  }
  while (isGrowing && open.length > 0) end()
  return [...shown, ...open.flatMap(({ block, inner }) => [block, ...inner])]

  function end() {
    const ended = open.pop()
    if (!ended) return
    const summary = ended.summary ? [{ type: "text" as const, text: ended.summary }] : []
    add({ type: "details", summary, blocks: [...ended.own, ...ended.inner] })
  }
}
