import { describe, expect, it } from "vitest"
import { findPost, listPosts } from "#server/blog/blog.ts"

describe("the blog", () => {
  const posts = listPosts()

  it("lists its posts, newest first", () => {
    const days = posts.map((post) => post.publishedAt)
    expect(days).toEqual(days.toSorted().toReversed())
    expect(posts.length).toBeGreaterThanOrEqual(4)
  })

  it("gives each post its own URL and a valid date", () => {
    expect(new Set(posts.map((post) => post.slug)).size).toBe(posts.length)
    for (const { slug, publishedAt } of posts) {
      expect(slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
      expect(new Date(publishedAt).toISOString().slice(0, 10)).toBe(publishedAt)
    }
  })

  it("links each post to the previous and the next one", () => {
    const walked = [posts[0]?.slug]
    for (let found = findPost(posts[0]?.slug ?? ""); found?.older; found = findPost(found.older.slug)) {
      walked.push(found.older.slug)
      expect(findPost(found.older.slug)?.newer?.slug).toBe(found.post.slug)
    }
    expect(walked).toEqual(posts.map((post) => post.slug))
  })

  it.each(["", "no-such-post", "constructor", "__proto__", "../about"])("has no post at %j", (slug) => {
    expect(findPost(slug)).toBeNull()
  })
})
