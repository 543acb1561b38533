import { listPosts } from "#server/blog/blog.ts"
import { servicesContext } from "#server/context.ts"
import { escapeMarkup } from "#server/transport/markup.ts"
import type { Route } from "./+types/feed.ts"

export const handle = { credential: "none" }

/** The blog as RSS 2.0. */
export function loader({ context }: Route.LoaderArgs) {
  const { origin } = context.get(servicesContext).config
  const items = listPosts().map(({ slug, title, excerpt, publishedAt }) => {
    const address = escapeMarkup(`${origin}/blog/${slug}`)
    return `<item><title>${escapeMarkup(title)}</title><link>${address}</link><guid>${address}</guid><pubDate>${new Date(publishedAt).toUTCString()}</pubDate><description>${escapeMarkup(excerpt)}</description></item>`
  })
  const feed = `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<title>Tideline blog</title>
<link>${escapeMarkup(origin)}/blog</link>
<atom:link href="${escapeMarkup(origin)}/blog/feed.xml" rel="self" type="application/rss+xml"/>
<description>Notes from building Tideline.</description>
<language>en</language>
${items.join("\n")}
</channel></rss>
`
  return new Response(feed, { headers: { "Content-Type": "application/rss+xml; charset=utf-8" } })
}
