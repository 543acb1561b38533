import type { I18n, MessageDescriptor } from "@lingui/core"
import type { MetaDescriptor } from "react-router"
import { i18nOf } from "#app/language/i18n.ts"
import pictures from "./share-pictures.json"

interface PageWords {
  /** A string if the text exists in one language only. */
  title: string | MessageDescriptor
  description: string | MessageDescriptor
  /** The path of the canonical URL. */
  path: string
  /** Set for an article: `YYYY-MM-DD` and the author. */
  article?: { publishedAt: string; author: string }
  /** Objects of schema.org. */
  structuredData?: object[]
}

type Match = { id: string; loaderData?: unknown } | undefined

/**
 * The title, description, canonical URL, link previews and structured data of a page, from one
 * description.
 */
export function pageMeta(matches: readonly Match[], page: PageWords): MetaDescriptor[] {
  const origin = originOf(matches)
  const address = origin + (page.path === "/" ? "/" : page.path)
  const i18n = i18nOf(matches)
  const name = inWords(page.title, i18n)
  const description = inWords(page.description, i18n)
  return [
    { title: page.path === "/" ? name : `${name} · Tideline` },
    { name: "description", content: description },
    { tagName: "link", rel: "canonical", href: address },
    { property: "og:site_name", content: "Tideline" },
    { property: "og:title", content: name },
    { property: "og:description", content: description },
    { property: "og:url", content: address },
    { property: "og:locale", content: i18n.locale === "de" ? "de_DE" : "en_GB" },
    { property: "og:type", content: page.article ? "article" : "website" },
    { property: "og:image", content: origin + pictureOf(page.path) },
    { property: "og:image:type", content: "image/png" },
    { property: "og:image:width", content: "1200" },
    { property: "og:image:height", content: "630" },
    { property: "og:image:alt", content: name },
    { name: "twitter:card", content: "summary_large_image" },
    { name: "twitter:title", content: name },
    { name: "twitter:description", content: description },
    { name: "twitter:image", content: origin + pictureOf(page.path) },
    ...articleMeta(page.article),
    ...(page.structuredData ?? []).map((thing) => ({
      "script:ld+json": { "@context": "https://schema.org", ...thing } as Record<string, string>,
    })),
  ]
}

function inWords(text: string | MessageDescriptor, i18n: I18n): string {
  return typeof text === "string" ? text : i18n._(text)
}

/**
 * The image of link previews. `npm run share-pictures` renders them; a page without its own uses
 * the site's.
 */
export function pictureOf(path: string): string {
  const drawn: Partial<Record<string, { file: string }>> = pictures
  return drawn[path]?.file ?? "/previews/start.png"
}

/** The breadcrumbs from the home page, for search engines: names and paths. */
export function breadcrumbs(matches: readonly Match[], ...steps: [name: string, path: string][]): object {
  return {
    "@type": "BreadcrumbList",
    itemListElement: steps.map(([name, path], at) => ({
      "@type": "ListItem",
      position: at + 1,
      name,
      item: originOf(matches) + path,
    })),
  }
}

/** The public origin of this installation, from the root loader. */
export function originOf(matches: readonly Match[]): string {
  const root = matches.find((match) => match?.id === "root")?.loaderData
  return typeof root === "object" && root !== null && "origin" in root ? String(root.origin) : ""
}

function articleMeta(article: PageWords["article"]): MetaDescriptor[] {
  if (!article) return []
  return [
    { property: "article:published_time", content: article.publishedAt },
    { property: "article:author", content: article.author },
  ]
}
