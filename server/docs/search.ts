import { listDocs, sourceOf, slugOf } from "./pages.ts"

/** A section of a page under one heading, and its URL. */
interface Section {
  page: string
  /** The heading; before the first one, the page's title. */
  title: string
  address: string
  text: string
}

export interface DocsFinding {
  page: string
  title: string
  address: string
  /** The text around the first match, split so that the matches can be marked. */
  excerpt: { text: string; isFound: boolean }[]
}

const MOST_WORDS = 8
/** Characters. */
const EXCERPT = 180

const sections = listDocs()
  .flatMap((group) => group.pages)
  .flatMap(({ slug, title }) => sectionsOf(slug, title))

/** The maximum number of results. */
export const MOST_FINDINGS = 20

/** The sections in which every word, or a word that begins with it, occurs; the best first. */
export function searchDocs(question: string): DocsFinding[] {
  const words =
    question
      .toLowerCase()
      .match(/[\p{Letter}\p{Number}_-]+/gu)
      ?.slice(0, MOST_WORDS) ?? []
  if (words.length === 0) return []
  const patterns = words.map(patternOf)
  return sections
    .map((section) => ({ section, score: scoreOf(section, patterns) }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .slice(0, MOST_FINDINGS)
    .map(({ section: { page, title, address, text } }) => ({
      page,
      title,
      address,
      excerpt: excerptOf(text, words),
    }))
}

function scoreOf({ page, title, text }: Section, patterns: RegExp[]): number {
  let score = 0
  for (const pattern of patterns) {
    const found = count(title, pattern) * 10 + count(page, pattern) * 2 + Math.min(count(text, pattern), 5)
    if (found === 0) return 0
    score += found
  }
  return score
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}

/** Matches beginnings of words, so that `log` finds `logical` but not `catalogue`. */
function patternOf(word: string): RegExp {
  return new RegExp(String.raw`(?<![\p{Letter}\p{Number}])${word}`, "giu")
}

function excerptOf(text: string, words: string[]): DocsFinding["excerpt"] {
  const first = Math.max(0, text.search(patternOf(words[0] ?? "")))
  const begin = first < 60 ? 0 : text.indexOf(" ", first - 60) + 1
  const shown = text.slice(begin, begin + EXCERPT)
  const end = begin + EXCERPT < text.length ? shown.lastIndexOf(" ") : shown.length
  const whole = `${begin > 0 ? "… " : ""}${shown.slice(0, end)}${end < shown.length ? " …" : ""}`
  const found = new RegExp(String.raw`((?<![\p{Letter}\p{Number}])(?:${words.join("|")}))`, "iu")
  return whole
    .split(new RegExp(found.source, "giu"))
    .map((part, at) => ({ text: part, isFound: at % 2 === 1 }))
    .filter((part) => part.text !== "")
}

function sectionsOf(slug: string, page: string): Section[] {
  // A line that looks like a heading inside a code block is a shell comment.
  const blocks = sourceOf(slug).split(/^(```[\s\S]*?^```)$/m)
  const found: Section[] = [{ page, title: page, address: `/docs/${slug}`, text: "" }]
  for (const [at, block] of blocks.entries()) {
    const parts = at % 2 === 1 ? [block] : block.split(/^(?=#{2,3} )/m)
    for (const part of parts) {
      const heading = /^#{2,3} (.+)\n/.exec(part)
      if (heading?.[1] && at % 2 === 0) {
        const title = plain(heading[1])
        found.push({ page, title, address: `/docs/${slug}#${slugOf(heading[1])}`, text: "" })
      }
      const section = found.at(-1)
      const text = plain(heading ? part.slice(heading[0].length) : part)
      if (section && text) section.text += section.text ? ` ${text}` : text
    }
  }
  return found
}

/** Markdown without its markup. */
function plain(source: string): string {
  return source
    .replaceAll(/^# .*$/gm, "")
    .replaceAll(/^```\w*$/gm, "")
    .replaceAll(/^\|[\s|:-]+\|$/gm, "")
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*]/g, "")
    .replaceAll("|", " ")
    .replaceAll(/\s+/g, " ")
    .trim()
}
