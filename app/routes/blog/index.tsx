import { Trans, useLingui } from "@lingui/react/macro"
import { msg } from "@lingui/core/macro"
import { href, Link } from "react-router"
import { useDayFormat } from "#app/features/site/dates.ts"
import { originOf, pageMeta } from "#app/features/site/page-meta.ts"
import { PageHead } from "#app/features/site/page-head.tsx"
import { listPosts } from "#server/blog/blog.ts"
import type { Route } from "./+types/index.ts"
import { ReadingTime } from "./reading-time.tsx"

export function loader() {
  return { posts: listPosts() }
}

export const meta: Route.MetaFunction = ({ matches }) =>
  pageMeta(matches, {
    title: msg`Blog`,
    description: msg`Notes from building Tideline: realtime over the write-ahead log, self-hosting, settings, limits and the web platform.`,
    path: href("/blog"),
    structuredData: [{ "@type": "Blog", name: "Tideline blog", url: `${originOf(matches)}/blog` }],
  })

export default function BlogIndex({ loaderData }: Route.ComponentProps) {
  const formatDay = useDayFormat()
  const { t } = useLingui()
  return (
    <div className="mx-auto max-w-3xl px-5 pb-24 sm:px-8">
      <PageHead title={t`Blog`}>
        <Trans>
          Notes from building Tideline. Also as an{" "}
          <a
            className="text-accent-ink underline decoration-accent-line underline-offset-4"
            href={href("/blog/feed.xml")}
          >
            RSS feed
          </a>
          .
        </Trans>
      </PageHead>
      <ul className="mt-4 divide-y divide-line">
        {loaderData.posts.map((post) => (
          <li key={post.slug}>
            <article className="group relative -mx-4 rounded-lg px-4 py-8">
              <p className="flex gap-2 text-sm text-faint">
                <time dateTime={post.publishedAt}>{formatDay(post.publishedAt)}</time>
                <span aria-hidden="true">·</span>
                <ReadingTime minutes={post.readingMinutes} />
              </p>
              <h2 lang="en" className="mt-2 text-2xl font-semibold">
                <Link
                  to={href("/blog/:slug", { slug: post.slug })}
                  className="group-hover:text-accent-ink after:absolute after:inset-0"
                >
                  {post.title}
                </Link>
              </h2>
              <p lang="en" className="mt-2 text-muted">
                {post.excerpt}
              </p>
            </article>
          </li>
        ))}
      </ul>
    </div>
  )
}
