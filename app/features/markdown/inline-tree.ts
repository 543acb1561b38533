import type { Token as Flat } from "markdown-it"
import type { Inline } from "./tokens.ts"

/** Makes a tree of the flat tokens within a block. */
export function inlineTree(flat: readonly Flat[]): Inline[] {
  const ends = endsOf(flat)
  return read(0, flat.length)

  function read(from: number, to: number): Inline[] {
    const tokens: Inline[] = []
    for (let at = from; at < to; at++) {
      const token = flat[at]
      const end = ends.get(at)
      if (token && end !== undefined) {
        tokens.push(wrap(token, read(at + 1, end)))
        at = end
      } else if (token) add(tokens, leafOf(token))
    }
    return tokens
  }
}

const WRAPPERS: Record<string, "em" | "strong" | "del"> = {
  em_open: "em",
  strong_open: "strong",
  s_open: "del",
}

function wrap(token: Flat, tokens: Inline[]): Inline {
  if (token.type === "link_open") return { type: "link", href: String(token.attrGet("href") ?? ""), tokens }
  return { type: WRAPPERS[token.type] ?? (tagIn(token)?.name as "sub"), tokens }
}

/** Where each pair of marks or tags ends. A tag without its other half is text. */
function endsOf(flat: readonly Flat[]): Map<number, number> {
  const ends = new Map<number, number>()
  const open: { name: string; at: number }[] = []
  flat.forEach((token, at) => {
    const tag = tagIn(token)
    if (tag === null ? token.nesting === 1 : !tag.isEnd) {
      open.push({ name: tag?.name ?? "", at })
      return
    }
    if (tag === null && token.nesting !== -1) return
    const found = tag ? open.findLastIndex(({ name }) => name === tag.name || name === "") : lastMark(open)
    const begin = open[found]
    if (!begin || begin.name !== (tag?.name ?? "")) return
    ends.set(begin.at, at)
    open.length = found
  })
  return ends
}

/** Tags that do not end before the mark around them does are text. */
function lastMark(open: readonly { name: string }[]) {
  return open.findLastIndex(({ name }) => name === "")
}

/** HTML that does nothing but look different, without attributes. */
function tagIn({ type, content }: Flat) {
  const tag = type === "html_inline" ? /^<(\/?)(sub|sup|kbd)>$/i.exec(content) : null
  return tag ? { name: (tag[2] ?? "").toLowerCase(), isEnd: tag[1] === "/" } : null
}

function leafOf(token: Flat): Inline {
  switch (token.type) {
    case "softbreak":
      return { type: "text", text: "\n" }
    case "hardbreak":
      return { type: "break" }
    case "code_inline":
      return { type: "code", text: token.content }
    case "image":
      return { type: "image", href: String(token.attrGet("src") ?? ""), alt: wordsOf(token.children ?? []) }
    case "math":
      return { type: "math", tex: token.content, isBlock: token.meta?.["isBlock"] === true }
    case "footnoteReference":
      return { type: "footnoteReference", label: token.content }
    case "html_inline":
      return /^<br\s*\/?>$/i.test(token.content) ? { type: "break" } : { type: "text", text: token.content }
    default:
      return { type: "text", text: token.content }
  }
}

function wordsOf(flat: readonly Flat[]): string {
  return flat.map(({ content, children }) => (children ? wordsOf(children) : content)).join("")
}

function add(tokens: Inline[], token: Inline) {
  const last = tokens.at(-1)
  if (token.type !== "text") tokens.push(token)
  else if (last?.type === "text") last.text += token.text
  else if (token.text) tokens.push(token)
}
