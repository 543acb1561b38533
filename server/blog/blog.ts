import type { BlogPost, BlogPostSummary } from "./contract.ts"
import { aCommitIsTheAnnouncement } from "./a-commit-is-the-announcement.ts"
import { aMissingSettingIsNotSuccess } from "./a-missing-setting-is-not-success.ts"
import { aRateLimiterYouCanPredict } from "./a-rate-limiter-you-can-predict.ts"
import { darkModeWithoutAScript } from "./dark-mode-without-a-script.ts"
import { everythingInOneProcess } from "./everything-in-one-process.ts"

const posts: BlogPost[] = [
  aCommitIsTheAnnouncement,
  everythingInOneProcess,
  aMissingSettingIsNotSuccess,
  darkModeWithoutAScript,
  aRateLimiterYouCanPredict,
].toSorted((one, other) => other.publishedAt.localeCompare(one.publishedAt))

/** All posts, newest first. */
export function listPosts(): BlogPostSummary[] {
  return posts.map((post) => summarize(post))
}

/** The post at `/blog/<slug>` and its neighbours in time; null when there is none. */
export function findPost(slug: string) {
  const place = posts.findIndex((post) => post.slug === slug)
  const post = posts[place]
  if (!post) return null
  const [newer, older] = [posts[place - 1], posts[place + 1]]
  return {
    post: { ...summarize(post), content: post.content },
    newer: newer ? summarize(newer) : null,
    older: older ? summarize(older) : null,
  }
}

function summarize({ content, ...rest }: BlogPost): BlogPostSummary {
  const words = content.replaceAll(/<[^>]+>/g, " ").split(/\s+/).length
  return { ...rest, readingMinutes: Math.max(1, Math.round(words / 220)) }
}
