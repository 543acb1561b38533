import createParser, { type Token as Flat } from "markdown-it"
import cjkFriendly from "markdown-it-cjk-friendly"
import { readWithin, type Budget } from "./budget.ts"
import { readFootnotes } from "./footnote-rules.ts"
import { readLinksInText } from "./link-rules.ts"
import { readMath, withoutPipes, withPipes } from "./math-rules.ts"
import { treeOf } from "./tree.ts"
import type { Block } from "./tokens.ts"

export interface Parsed {
  /** Each has its source in `raw`; together these are the text. */
  blocks: Block[]
  /** Whether it defines references such as `[1]: https://…`. */
  hasReferences: boolean
}

/** Parses Markdown into blocks, within a budget. */
export function parse(text: string, budget: Budget): Parsed {
  const env = { budget, references: {} }
  const tokens: Flat[] = []
  parser.block.parse(withoutPipes(text), parser, env, tokens)
  const state = new parser.core.State("", parser, env)
  state.tokens = inlineIn(tokens)
  parser.core.process(state)
  return { blocks: treeOf(tokens, text), hasReferences: Object.keys(env.references).length > 0 }
}

/** Also those in footnotes. */
function inlineIn(tokens: Flat[]): Flat[] {
  return tokens.flatMap((token) => {
    token.content = withPipes(token.content)
    if (token.type === "footnote") return inlineIn(token.children ?? [])
    return token.type === "inline" ? [token] : []
  })
}

const parser = makeParser()

function makeParser() {
  // HTML is parsed so that it can be shown as it was written, and is never inserted as such. The
  // deepest nesting is limited where it is rendered, so that nothing is dropped here.
  const made = createParser({ html: true, linkify: true, maxNesting: 250 })
  made.core.ruler.disable(["normalize", "block", "replacements", "smartquotes"])
  made.use(cjkFriendly)
  readMath(made)
  readFootnotes(made)
  readLinksInText(made)
  readWithin(made)
  // Where a link leads is judged when it is rendered, by what was written.
  made.normalizeLink = (url) => url
  made.normalizeLinkText = (url) => url
  return made
}
