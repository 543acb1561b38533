import { listPosts } from "#server/blog/blog.ts"
import { listDocs } from "#server/docs/pages.ts"

const docs = listDocs().flatMap((group) => group.pages.map((page) => `/docs/${page.slug}`))
export const posts = listPosts().map((post) => `/blog/${post.slug}`)

/** Public pages that do not need React. */
export const publicPages = [
  "/",
  "/features",
  "/pricing",
  "/about",
  "/blog",
  "/privacy",
  "/terms",
  "/cookies",
  ...docs,
  ...posts,
]

/** Pages with forms for visitors who are not signed in. */
export const publicForms = [
  "/waitlist",
  "/docs/search?q=mail",
  "/sign-in",
  "/sign-up",
  "/sign-in/forgot-password",
]
