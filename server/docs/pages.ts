import { Marked, type Tokens } from "marked"
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
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const id = slugOf(text)
        if (depth === 2) headings.push({ id, text: text.replaceAll("`", "") })
        const inner = this.parser.parseInline(tokens)
        return depth === 1
          ? `<h1>${inner}</h1>`
          : `<h${depth} id="${id}"><a href="#${id}">${inner}</a></h${depth}>`
      },
      code({ text, lang }) {
        const code = `<pre tabindex="0"><code>${escapeMarkup(text)}\n</code></pre>`
        // A block without a language is a drawing, which nobody copies.
        return lang ? `<div data-copyable>${code}${copyButton}</div>` : code
      },
      table(token) {
        tables += 1
        return `<div class="scroller" tabindex="0" role="region" aria-label="Table ${tables}">${tableOf(token, (cell) => this.parser.parseInline(cell.tokens))}</div>`
      },
      link({ href, tokens }) {
        return `<a href="${escapeMarkup(addressOf(href))}">${this.parser.parseInline(tokens)}</a>`
      },
      html: ({ text }) => escapeMarkup(text),
    },
  })
  return { html: marked.parse(source, { async: false }), headings }
}

/** The site's copy button as HTML; a script of the site makes it work. */
const copyButton = `<button type="button" data-copy="" aria-label="Copy">${drawing("M5.75 5.75h7.5v7.5h-7.5z", "M10.25 5.75v-3h-7.5v7.5h3")}${drawing("M3 8.5l3.25 3.25L13 4.75")}</button>`

function drawing(...paths: string[]): string {
  return `<svg viewBox="0 0 16 16" aria-hidden="true">${paths.map((path) => `<path d="${path}"/>`).join("")}</svg>`
}

function tableOf({ header, rows }: Tokens.Table, inline: (cell: Tokens.TableCell) => string): string {
  const head = header.map((cell) => `<th scope="col">${inline(cell)}</th>`).join("")
  const body = rows
    .map((row) => `<tr>${row.map((cell) => `<td>${inline(cell)}</td>`).join("")}</tr>`)
    .join("")
  return `<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`
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
