import { href } from "react-router"
import { listPosts } from "#server/blog/blog.ts"
import { escapeMarkup } from "#server/transport/markup.ts"
import { allowMethods } from "#server/http/methods.ts"
import { servicesOf } from "#server/http/scope.ts"
import type { Route } from "./+types/sitemap.ts"

export const handle = { credential: "none" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD")]

export function loader({ context }: Route.LoaderArgs) {
  const { origin } = servicesOf(context).config
  const pages = ["/", href("/features"), href("/pricing")].map((path) => entry(origin + path))
  const articles = listPosts().map(({ slug, publishedAt }) =>
    entry(`${origin}/blog/${encodeURIComponent(slug)}`, publishedAt),
  )
  return new Response(sitemap([...pages, ...articles]), {
    headers: { "Content-Type": "application/xml; charset=utf-8", "Cache-Control": "public, max-age=3600" },
  })
}

function sitemap(entries: string[]) {
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${entries.join("\n")}
</urlset>
`
}

function entry(address: string, lastModified?: string) {
  const modified = lastModified ? `<lastmod>${escapeMarkup(lastModified)}</lastmod>` : ""
  return `<url><loc>${escapeMarkup(address)}</loc>${modified}</url>`
}
