import type { Token, TokenizerExtension, Tokens } from "marked"

/** `[^label]: text`, anywhere in the text. */
export interface FootnoteToken extends Tokens.Generic {
  type: "footnote"
  label: string
  tokens: Token[]
}

/** `[^label]` within a text. */
export interface FootnoteReferenceToken extends Tokens.Generic {
  type: "footnoteReference"
  label: string
}

/**
 * Whether a text can hold a footnote at all. Skips the extension where it cannot, because it tries
 * to match at every position.
 */
export function mayHoldFootnotes(text: string): boolean {
  return text.includes("[^")
}

const DEFINITION = /^ {0,3}\[\^([^\]\s]{1,100})\]:[ \t]*/

/** Lexers that are reading a footnote. Nested footnotes would let a text exhaust the stack. */
const readingFootnote = new WeakSet<object>()

const footnote: TokenizerExtension = {
  name: "footnote",
  level: "block",
  start: (text) => /\n {0,3}\[\^[^\]\s]{1,100}\]:/.exec(firstParagraph(text))?.index,
  tokenizer(text) {
    const found = DEFINITION.exec(text)
    const { lexer } = this
    if (!found || readingFootnote.has(lexer)) return undefined
    const raw = readDefinition(text)
    readingFootnote.add(lexer)
    try {
      const content = raw.slice(found[0].length).replace(/\n(?: {4}|\t)/g, "\n")
      return { type: "footnote", raw, label: found[1], tokens: lexer.blockTokens(content, []) }
    } finally {
      readingFootnote.delete(lexer)
    }
  },
}

/**
 * A footnote continues on the lines directly below its first, and on indented ones after an empty
 * line.
 */
function readDefinition(text: string): string {
  let end = lineEnd(text, 0)
  let hasGap = false
  while (end < text.length) {
    const next = lineEnd(text, end)
    const line = text.slice(end, next)
    const isEmpty = line.trim() === ""
    if (!isEmpty && (hasGap ? !/^(?: {4}|\t)/.test(line) : DEFINITION.test(line))) break
    hasGap ||= isEmpty
    end = next
  }
  return text.slice(0, end)
}

function lineEnd(text: string, from: number) {
  const at = text.indexOf("\n", from)
  return at < 0 ? text.length : at + 1
}

/** Avoids scanning the rest of a long text for each of its paragraphs. */
function firstParagraph(text: string) {
  const end = text.indexOf("\n\n")
  return end < 0 ? text : text.slice(0, end)
}

const footnoteReference: TokenizerExtension = {
  name: "footnoteReference",
  level: "inline",
  start: (text) => /\[\^/.exec(text)?.index,
  tokenizer(text) {
    if (this.lexer.state.inLink) return undefined
    // Followed by a URL in parentheses, it is a link.
    const found = /^\[\^([^\]\s]{1,100})\](?!\()/.exec(text)
    return found ? { type: "footnoteReference", raw: found[0], label: found[1] } : undefined
  },
}

export const footnoteExtensions = [footnote, footnoteReference]
