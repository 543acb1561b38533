/** A mention within a text: `text.slice(from, to)` is an @ and the name. */
export interface Mention {
  from: number
  to: number
  /** As it was given, which may be in other case than in the text. */
  name: string
}

/**
 * Where a text mentions one of the names, in the order of the text. The longest name wins, so that
 * "@Ada Lovelace" does not mention Ada. An @ within a word, as in an email address, mentions nobody.
 */
export function findMentions(text: string, names: Iterable<string>): Mention[] {
  const longestFirst = [...new Set(names)].filter(Boolean).toSorted((one, other) => other.length - one.length)
  const found: Mention[] = []
  for (let at = text.indexOf("@"); at >= 0; at = text.indexOf("@", at + 1)) {
    if (at > 0 && WORD.test(text.charAt(at - 1))) continue
    const name = longestFirst.find((each) => isAt(text, at + 1, each))
    if (name === undefined) continue
    found.push({ from: at, to: at + 1 + name.length, name })
    at += name.length
  }
  return found
}

function isAt(text: string, at: number, name: string): boolean {
  const end = at + name.length
  return text.slice(at, end).toLowerCase() === name.toLowerCase() && !WORD_OR_ADDRESS.test(text.charAt(end))
}

const WORD = /[\p{L}\p{N}_]/u
const WORD_OR_ADDRESS = /[\p{L}\p{N}_@]/u
