import type { MarkdownIt, StateBlock, StateInline } from "markdown-it"

/** `[^label]: text` and the references to it, `[^label]`. */
export function readFootnotes(parser: MarkdownIt) {
  parser.block.ruler.before("reference", "footnote", footnote, { alt: ["paragraph", "reference"] })
  parser.inline.ruler.before("link", "footnoteReference", footnoteReference)
}

/** Footnotes of one text. They are rendered in one step. */
const MOST = 200

const DEFINITION = /^\[\^([^\]\s]{1,100})\]:[ \t]*/

/**
 * A footnote continues on the lines directly below its first, and on indented ones after an empty
 * line. One inside another would let a text exhaust the stack.
 */
function footnote(state: StateBlock, line: number, endLine: number, silent: boolean): boolean {
  const found = definitionAt(state, line)
  const footnotes = Number(state.env["footnotes"] ?? 0)
  if (!found || state.env["isInFootnote"] === true || footnotes >= MOST) return false
  if (silent) return true
  state.env["footnotes"] = footnotes + 1
  const last = endOf(state, line, endLine)
  const token = state.push("footnote", "", 0)
  const first = state.src.slice(state.bMarks[line], state.eMarks[line]).trimStart().slice(found[0].length)
  const below = state.getLines(line + 1, last, state.blkIndent, false).replace(/^(?: {1,4}|\t)/gm, "")
  token.map = [line, last]
  token.info = found[1] ?? ""
  token.children = []
  state.env["isInFootnote"] = true
  const source = `${first}\n${below}`
  token.meta = { source }
  state.md.block.parse(source, state.md, state.env, token.children)
  state.env["isInFootnote"] = false
  state.line = last
  return true
}

function definitionAt(state: StateBlock, line: number) {
  if ((state.sCount[line] ?? 0) - state.blkIndent >= 4) return null
  const begin = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0)
  if (!state.src.startsWith("[^", begin)) return null
  return DEFINITION.exec(state.src.slice(begin, Math.min(state.eMarks[line] ?? 0, begin + 200)))
}

function endOf(state: StateBlock, line: number, endLine: number) {
  let hasGap = false
  let end = line + 1
  for (let next = end; next < endLine; next++) {
    if (state.isEmpty(next)) {
      hasGap = true
      continue
    }
    const indent = (state.sCount[next] ?? 0) - state.blkIndent
    if (hasGap ? indent < 4 : definitionAt(state, next) !== null || indent < 0) break
    end = next + 1
  }
  return end
}

function footnoteReference(state: StateInline, silent: boolean): boolean {
  if (state.linkLevel > 0 || !state.src.startsWith("[^", state.pos)) return false
  // Followed by a URL in parentheses, it is a link.
  const found = /^\[\^([^\]\s]{1,100})\](?!\()/.exec(state.src.slice(state.pos, state.pos + 110))
  if (!found) return false
  if (!silent) state.push("footnoteReference", "", 0).content = found[1] ?? ""
  state.pos += found[0].length
  return true
}
