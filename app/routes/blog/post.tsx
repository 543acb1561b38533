import { Trans, useLingui } from "@lingui/react/macro"
import { data, href, Link } from "react-router"
import { Avatar } from "#app/ui/avatar.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { useDayFormat } from "#app/features/site/dates.ts"
import { InEnglish } from "#app/features/site/in-english.tsx"
import { Neighbour } from "#app/features/site/neighbour.tsx"
import { breadcrumbs, originOf, pageMeta, pictureOf } from "#app/features/site/page-meta.ts"
import { findPost } from "#server/blog/blog.ts"
import type { Route } from "./+types/post.ts"
import { ReadingTime } from "./reading-time.tsx"

export function loader({ params }: Route.LoaderArgs) {
  const found = findPost(params.slug)
  if (!found) throw data("There is no such post.", { status: 404 })
  return found
}

export const meta: Route.MetaFunction = ({ matches, loaderData }) => {
  if (!loaderData) return []
  const { title, excerpt, slug, publishedAt, author } = loaderData.post
  const path = href("/blog/:slug", { slug })
  const posting = {
    "@type": "BlogPosting",
    headline: title,
    description: excerpt,
    datePublished: publishedAt,
    author: { "@type": "Organization", name: author.name, url: `${originOf(matches)}/about` },
    publisher: { "@type": "Organization", name: author.name },
    image: originOf(matches) + pictureOf(path),
    mainEntityOfPage: originOf(matches) + path,
  }
  return pageMeta(matches, {
    title,
    description: excerpt,
    path,
    article: { publishedAt, author: author.name },
    structuredData: [posting, breadcrumbs(matches, ["Blog", href("/blog")], [title, path])],
  })
}

export default function BlogPost({ loaderData }: Route.ComponentProps) {
  const { t } = useLingui()
  const formatDay = useDayFormat()
  const { post, newer, older } = loaderData
  return (
    <div className="mx-auto max-w-2xl px-5 pt-10 pb-24 sm:px-8 sm:pt-16">
      <Link
        to={href("/blog")}
        className="inline-flex min-h-11 items-center gap-2 rounded-md text-sm text-muted hover:text-ink"
      >
        <Icon name="arrow-left" />
        <Trans>All posts</Trans>
      </Link>
      <article>
        <header className="mt-6 border-b border-line pb-8">
          <InEnglish className="mb-6" />
          <h1 lang="en" className="text-4xl font-semibold">
            {post.title}
          </h1>
          <p lang="en" className="mt-4 text-lg text-muted">
            {post.excerpt}
          </p>
          <div className="mt-6 flex items-center gap-3 text-sm">
            <Avatar name={post.author.name} image={post.author.image} className="size-9 border-0" />
            <div>
              <p className="font-medium">{post.author.name}</p>
              <p className="text-faint">
                <time dateTime={post.publishedAt}>{formatDay(post.publishedAt)}</time> ·{" "}
                <ReadingTime minutes={post.readingMinutes} />
              </p>
            </div>
          </div>
        </header>
        {/* Our own text, part of the source. */}
        <div
          lang="en"
          className="prose mt-10 text-[1.0625rem]"
          dangerouslySetInnerHTML={{ __html: post.content }}
        />
      </article>
      <nav aria-label={t`Previous and next posts`} className="mt-16 grid gap-3 sm:grid-cols-2">
        {older ? (
          <Neighbour to={href("/blog/:slug", { slug: older.slug })} title={older.title} label={t`Older`} />
        ) : null}
        {newer ? (
          <Neighbour
            to={href("/blog/:slug", { slug: newer.slug })}
            title={newer.title}
            label={t`Newer`}
            isAfter
          />
        ) : null}
      </nav>
    </div>
  )
}
