/** A post of the blog. They are part of the source: writing one is a commit. */
export interface BlogPost {
  /** Its address is `/blog/<slug>`. */
  slug: string
  title: string
  /** A sentence or two; also the page's description. */
  excerpt: string
  /** HTML, written by us. */
  content: string
  /** `YYYY-MM-DD`. */
  publishedAt: string
  author: { name: string; image: string }
}

export type BlogPostSummary = Omit<BlogPost, "content"> & { readingMinutes: number }
