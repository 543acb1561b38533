import createParser, { type RendererRule } from "markdown-it"
import { escapeMarkup } from "#server/transport/markup.ts"

/**
 * The pages that the application serves under /docs, in reading order. Other files in docs/ are for
 * readers of the repository.
 */
const manifest = [
  { title: "Start", slugs: ["introduction", "self-hosting", "backup", "upgrading", "moving", "operations"] },
  { title: "How it works", slugs: ["architecture"] },
  {
    title: "Reference",
    slugs: ["http-api", "identity", "realtime-protocol", "realtime-reference", "security"],
  },
]

// Part of the build, so that a server needs no docs folder.
const sources = import.meta.glob<string>("../../docs/*.md", { eager: true, query: "?raw", import: "default" })

interface DocsHeading {
  id: string
  text: string
}

/** Every public page with its title, in groups, for the navigation. */
export function listDocs() {
  return manifest.map(({ title, slugs }) => ({
    title,
    pages: slugs.map((slug) => ({ slug, title: titleOf(sourceOf(slug)) })),
  }))
}

/**
 * A page as HTML, with the headings of its second level and its neighbours; null when there is no
 * such page.
 */
export function findDocsPage(slug: string) {
  const pages = listDocs().flatMap((group) => group.pages)
  const place = pages.findIndex((page) => page.slug === slug)
  const page = pages[place]
  if (!page) return null
  const source = sourceOf(slug)
  return {
    ...page,
    ...render(source),
    description: firstParagraphOf(source),
    previous: pages[place - 1] ?? null,
    next: pages[place + 1] ?? null,
  }
}

export function sourceOf(slug: string): string {
  const source = sources[`../../docs/${slug}.md`]
  if (source === undefined) throw new Error(`docs/${slug}.md is in the manifest but not in the folder.`)
  return source
}

function titleOf(source: string): string {
  return /^# (.+)$/m.exec(source)?.[1] ?? "Untitled"
}

function firstParagraphOf(source: string): string {
  const paragraph = source.split(/\n{2,}/).find((part) => /^[A-Za-z]/.test(part)) ?? ""
  return paragraph
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*]/g, "")
    .replaceAll(/\s+/g, " ")
    .trim()
}

function render(source: string): { html: string; headings: DocsHeading[] } {
  const headings: DocsHeading[] = []
  let tables = 0
  const rules: Record<string, RendererRule> = {
    heading_open(tokens, at) {
      const { tag } = tokens[at]!
      const text = tokens[at + 1]!.content
      const id = slugOf(text)
      if (tag === "h2") headings.push({ id, text: text.replaceAll("`", "") })
      return tag === "h1" ? "<h1>" : `<${tag} id="${id}"><a href="#${id}">`
    },
    heading_close: (tokens, at) => (tokens[at]!.tag === "h1" ? "</h1>" : `</a></${tokens[at]!.tag}>`),
    fence(tokens, at) {
      const { content, info } = tokens[at]!
      const code = `<pre tabindex="0"><code>${escapeMarkup(content)}</code></pre>`
      // A block without a language is a drawing, which nobody copies.
      return info ? `<div data-copyable>${code}${copyButton}</div>` : code
    },
    table_open: () =>
      `<div class="scroller" tabindex="0" role="region" aria-label="Table ${(tables += 1)}"><table>`,
    table_close: () => "</table></div>",
    // Without the style of its column's alignment, which the policy forbids.
    th_open: () => '<th scope="col">',
    td_open: () => "<td>",
    link_open: (tokens, at) => `<a href="${escapeMarkup(addressOf(String(tokens[at]!.attrGet("href"))))}">`,
  }
  const parser = createParser({ linkify: true })
  parser.linkify.set({ fuzzyLink: false })
  Object.assign(parser.renderer.rules, rules)
  return { html: parser.render(source), headings }
}

/** The site's copy button as HTML; a script of the site makes it work. */
const copyButton = `<button type="button" data-copy="" aria-label="Copy">${drawing("M5.75 5.75h7.5v7.5h-7.5z", "M10.25 5.75v-3h-7.5v7.5h3")}${drawing("M3 8.5l3.25 3.25L13 4.75")}</button>`

function drawing(...paths: string[]): string {
  return `<svg viewBox="0 0 16 16" aria-hidden="true">${paths.map((path) => `<path d="${path}"/>`).join("")}</svg>`
}

/** Links between files of docs/ become links to their pages. */
function addressOf(href: string): string {
  if (/^(?:https?:|mailto:|#|\/)/.test(href)) return href
  const [, slug, hash = ""] = /^(?:\.\/)?([\w-]+)\.md(#.*)?$/.exec(href) ?? []
  return slug ? `/docs/${slug}${hash}` : "#"
}

/** The id of a heading, as URLs contain it. */
export function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}\s-]/gu, "")
    .trim()
    .replaceAll(/\s+/g, "-")
}
