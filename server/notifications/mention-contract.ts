/** A mention within a text: `text.slice(from, to)` is an @ and the name. */
export interface Mention {
  from: number
  to: number
  /** As it was given, which may be in other case than in the text. */
  name: string
}

/** A member as the others see them. */
export interface Mentionable {
  userId: string
  memberName: string | null
  memberEmail: string
}

/** A name, as its members have it, and whom it mentions. */
export interface Named {
  name: string
  userIds: string[]
}

/**
 * What mentions somebody, by the name in lower case: a member's name, their email address, and their
 * first name if nobody else is called so. Several members with one name are all mentioned by it.
 */
export function nameMembers(members: readonly Mentionable[]): Map<string, Named> {
  const named = new Map<string, Named>()
  const first = new Map<string, Named>()
  for (const { userId, memberName, memberEmail } of members) {
    for (const name of new Set([memberName ?? "", memberEmail])) add(named, name, userId)
    add(first, firstNameOf(memberName), userId)
  }
  for (const [name, one] of first) if (one.userIds.length === 1 && !named.has(name)) named.set(name, one)
  return named
}

/** Empty without one. An initial is none. */
function firstNameOf(name: string | null): string {
  return FIRST_NAME.exec((name ?? "").trim())?.[0] ?? ""
}

function add(names: Map<string, Named>, name: string, userId: string) {
  const known = names.get(name.toLowerCase())
  if (known) known.userIds.push(userId)
  else if (name) names.set(name.toLowerCase(), { name, userIds: [userId] })
}

/**
 * Words after an @ that mention nobody although they look as if they should, each once. Addresses,
 * packages, handles in URLs and what is marked as code do not look so.
 */
export function findUnmatched(text: string, names: Iterable<string>): string[] {
  const matched = new Set(findMentions(text, names).map(({ from }) => from))
  const prose = text.replaceAll(CODE, (code) => " ".repeat(code.length))
  const words = [...prose.matchAll(NAMED)].filter(({ index }) => !matched.has(index))
  return [...new Set(words.map(([, word = ""]) => word.replace(/['’]s?$/u, "")))]
}

/**
 * Where a text mentions one of the names, in the order of the text. The longest name wins, so that
 * "@Ada Lovelace" does not mention Ada. An @ within a word, as in an email address, mentions nobody.
 */
export function findMentions(text: string, names: Iterable<string>): Mention[] {
  const byLength = groupByLength(names)
  const found: Mention[] = []
  let looked = 0
  for (let at = text.indexOf("@"); at >= 0 && looked < MOST; at = text.indexOf("@", at + 1)) {
    if (at > 0 && WORD.test(text.charAt(at - 1))) continue
    looked++
    const name = nameAt(text, at + 1, byLength)
    if (name === undefined) continue
    found.push({ from: at, to: at + 1 + name.length, name })
    at += name.length
  }
  return found
}

type ByLength = [length: number, names: Map<string, string>][]

function groupByLength(names: Iterable<string>): ByLength {
  const groups = new Map<number, Map<string, string>>()
  for (const name of names) {
    const group = groups.get(name.length) ?? new Map<string, string>()
    if (name && !group.has(name.toLowerCase())) groups.set(name.length, group.set(name.toLowerCase(), name))
  }
  return [...groups].toSorted(([one], [other]) => other - one)
}

function nameAt(text: string, at: number, byLength: ByLength): string | undefined {
  for (const [length, names] of byLength) {
    const end = at + length
    const name = names.get(text.slice(at, end).toLowerCase())
    if (name !== undefined && !GOES_ON.test(text.slice(end, end + 2))) return name
  }
  return undefined
}

/** Signs of one text that are looked at: each is compared with names of every length. */
const MOST = 1000

const WORD = /[\p{L}\p{N}_]/u
/** A longer name, an address, or a package such as `@ada/engine`. */
const GOES_ON = /^(?:[\p{L}\p{N}_@]|[./-][\p{L}\p{N}_])/u
const FIRST_NAME = /^[\p{L}\p{N}'’_-]{2,}(?=\s|$)/u
const CODE = /```[^]*?(?:```|$)|`[^`\n]*`/g
const NAMED = /(?<![\p{L}\p{N}_.@/-])@(\p{L}[\p{L}\p{N}_'’-]*)(?![\p{L}\p{N}_'’@/(]|[.:-][\p{L}\p{N}_])/gu
