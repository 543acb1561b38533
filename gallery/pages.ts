import type { Page } from "playwright-core"
import { listPosts } from "#server/blog/blog.ts"
import type { Product } from "./product.ts"

/** A page that pictures are taken of. */
export interface Shot {
  name: string
  path: string
  as?: "ada" | "grace"
  /** Tells search engines to leave it out. */
  isUnlisted?: true
  /** Opens what the picture is about. */
  reveal?: (page: Page) => Promise<void>
}

export const publicPages: Shot[] = [
  { name: "home", path: "/" },
  { name: "features", path: "/features" },
  { name: "pricing", path: "/pricing" },
  { name: "about", path: "/about" },
  { name: "blog", path: "/blog" },
  { name: "blog-post", path: `/blog/${listPosts()[0]?.slug}` },
  { name: "docs", path: "/docs/introduction" },
  { name: "docs-self-hosting", path: "/docs/self-hosting" },
  { name: "docs-realtime-reference", path: "/docs/realtime-reference" },
  { name: "docs-search", path: "/docs/search?q=database", isUnlisted: true },
  { name: "privacy", path: "/privacy" },
  { name: "terms", path: "/terms" },
  { name: "cookies", path: "/cookies" },
  { name: "waitlist", path: "/waitlist" },
  { name: "sign-in", path: "/sign-in" },
  { name: "sign-up", path: "/sign-up" },
]

export function pagesOf({ thread, share, space, spaceThread, join }: Product): Shot[] {
  return [
    ...publicPages,
    { name: "not-found", path: "/docs/nothing", isUnlisted: true },
    { name: "forgot-password", path: "/sign-in/forgot-password" },
    { name: "share", path: share, isUnlisted: true },
    { name: "onboarding", path: "/onboarding", as: "grace" },
    { name: "dashboard", path: "/dashboard", as: "ada" },
    { name: "dashboard-chat", path: "/dashboard/chat", as: "ada" },
    { name: "dashboard-thread", path: thread, as: "ada" },
    { name: "dashboard-files", path: "/dashboard/files", as: "ada" },
    { name: "dashboard-trash", path: "/dashboard/files/trash", as: "ada" },
    { name: "dashboard-account", path: "/dashboard/account", as: "ada" },
    { name: "dashboard-security-log", path: "/dashboard/account/security", as: "ada" },
    { name: "dashboard-notifications", path: "/dashboard/notifications", as: "ada" },
    { name: "dashboard-spaces", path: "/dashboard/spaces", as: "ada" },
    { name: "space-home", path: space, as: "ada" },
    { name: "space-settings", path: `${space}/settings`, as: "ada" },
    { name: "space-chat", path: `${space}/chat`, as: "ada" },
    { name: "space-thread", path: spaceThread, as: "ada" },
    { name: "space-files", path: `${space}/files`, as: "ada" },
    { name: "space-members", path: `${space}/members`, as: "ada" },
    { name: "space-join", path: join, isUnlisted: true },
    { name: "admin", path: "/admin", as: "ada" },
    { name: "admin-people", path: "/admin/people", as: "ada" },
    { name: "admin-spaces", path: "/admin/spaces", as: "ada" },
  ]
}
