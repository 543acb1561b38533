import { beforeAll, describe, expect, test } from "vitest"
import { listPosts } from "#server/blog/blog.ts"
import { accountPageOperations } from "#server/accounts/page-operations-contract.ts"
import { userOperations } from "#server/users/operations-contract.ts"
import { callers, type Api } from "../../support/api.ts"
import { DEPLOYMENTS, type Deployment } from "../../support/deployments.ts"
import { formFor } from "../../support/forms.ts"
import type { Fetch } from "../../support/openapi.ts"

describe.each(DEPLOYMENTS)("with $provider", ({ start }) => {
  let app: Deployment
  let api: Api

  beforeAll(async () => {
    app = await start()
    api = callers(app)
    return () => app.stop()
  })

  describe("a public page", () => {
    const pages = [
      "/",
      "/features",
      "/pricing",
      "/about",
      "/blog",
      `/blog/${listPosts()[0]?.slug}`,
      "/sign-in",
      "/sign-in/factor-one",
      "/sign-up",
      "/sign-up/verify/address",
      "/privacy",
      "/terms",
      "/cookies",
      "/waitlist",
    ]

    test.each(pages)("%s is served to anyone, complete, with its own title and description", async (path) => {
      const response = await api.visitor(path, { redirect: "manual" })
      expect(response.status).toBe(200)
      expect(response.headers.get("content-type")).toMatch(/^text\/html/)
      const html = await response.text()
      expect(html.match(/<title>[^<]+<\/title>/g)).toHaveLength(1)
      expect(html.match(/<meta name="description" content="[^"]{20,}"/g)).toHaveLength(1)
      expect(html.match(/<h1[\s>]/g)).toHaveLength(1)
    })

    test("has a title of its own", async () => {
      const titles = await Promise.all(
        pages
          .filter((path) => !/^\/sign-..\/|^\/sign-up\//.test(path))
          .map(async (path) => titleOf(await (await api.visitor(path)).text())),
      )
      expect(new Set(titles).size).toBe(titles.length)
    })

    test.each(["/features", "/pricing", "/about", "/blog", "/privacy", "/terms", "/cookies", "/waitlist"])(
      "%s names its canonical URL",
      async (path) => {
        const html = await (await api.visitor(`${path}?utm_source=elsewhere`)).text()
        expect(html).toContain(`<link rel="canonical" href="${api.app.origin}${path}"/>`)
      },
    )
  })

  test("/docs leads to the documentation", async () => {
    const response = await api.visitor("/docs", { redirect: "manual" })
    expect([301, 302, 303, 307, 308]).toContain(response.status)
    const target = new URL(response.headers.get("location") ?? "", `${api.app.origin}/docs`)
    expect(target.pathname).toMatch(/^\/docs\/./)
    expect((await api.visitor(target.href)).status).toBe(200)
  })

  describe("a blog post", () => {
    test.each(listPosts())("$slug is an article with its title, excerpt and date", async (post) => {
      const html = await (await api.visitor(`/blog/${post.slug}`)).text()
      const meta = readMeta(html)
      expect(titleOf(html)).toContain(post.title)
      expect(meta["description"]).toBe(post.excerpt)
      expect(meta["og:type"]).toBe("article")
      expect(meta["article:published_time"]).toBe(post.publishedAt)
    })

    test.each(["/blog/no-such-post", "/blog/constructor", "/blog/%00", "/blog/..%2f..%2fetc"])(
      "that does not exist (%s) is the not-found page, with status 404",
      async (path) => {
        const response = await api.visitor(path)
        expect(response.status).toBe(404)
        expect(response.headers.get("content-type")).toMatch(/^text\/html/)
        expect(await response.text()).toContain("Go to the home page")
      },
    )
  })

  describe("a page of the dashboard", () => {
    const pages = ["/dashboard", "/dashboard/chat", "/dashboard/files", "/onboarding"]

    test.each(pages)("%s sends a visitor to the sign-in page, and back afterwards", async (path) => {
      const response = await api.visitor(`${path}?from=mail`, { redirect: "manual" })
      expect(response.status).toBe(302)
      const target = new URL(response.headers.get("location") ?? "", api.app.origin)
      expect(target.origin + target.pathname).toBe(`${api.app.origin}/sign-in`)
      expect(target.searchParams.get("redirect_url")).toBe(`${path}?from=mail`)
    })

    test.each(pages.slice(0, 3))(
      "%s redirects anyone who has not finished onboarding to it",
      async (path) => {
        const newcomer = await app.enter({
          email: `new${path.replaceAll("/", "-")}@example.org`,
          name: "Newcomer",
        })
        const response = await newcomer(path, { redirect: "manual" })
        expect(response.status).toBe(302)
        expect(new URL(response.headers.get("location") ?? "", api.app.origin).pathname).toBe("/onboarding")
      },
    )

    test("/onboarding is served to anyone who has not finished it", async () => {
      const newcomer = await app.enter({ email: "newcomer@example.org", name: "Newcomer" })
      const response = await newcomer("/onboarding", { redirect: "manual" })
      expect(response.status).toBe(200)
      expect(response.headers.get("content-type")).toMatch(/^text\/html/)
    })

    test.each(pages.slice(0, 3))("%s is served to anyone who has finished onboarding", async (path) => {
      const ada = await app.enter({
        name: "Ada Lovelace",
        email: `ada${path.replaceAll("/", "-")}@example.org`,
      })
      await finishOnboarding(ada)
      const response = await ada(path, { redirect: "manual" })
      expect(response.status).toBe(200)
      expect(await response.text()).toMatch(app.dashboard)
    })
  })

  test.each(["/no-such-page.html", "/missing.css"])(
    "%s is a missing file and returns 404 to anyone",
    async (path) => {
      expect((await api.visitor(path)).status).toBe(404)
    },
  )

  test("a page that does not exist is the not-found page for anyone who is signed in", async () => {
    const ada = await app.enter({ email: "lost@example.org", name: "Ada Lovelace" })
    const response = await ada("/no-such-page")
    expect(response.status).toBe(404)
    expect(await response.text()).toContain("Go to the home page")
  })
})

/** Through the forms of the page, as a person without JavaScript does. */
async function finishOnboarding(person: Fetch) {
  const { finishOnboardingStep, completeOnboarding } = userOperations
  const { finishProfile } = accountPageOperations
  for (const operation of [finishOnboardingStep, finishProfile, completeOnboarding]) {
    const values = operation === finishOnboardingStep ? { step: "welcome" } : {}
    const fields: Record<string, string> = operation === finishProfile ? { name: "Ada" } : {}
    const response = await person("/onboarding", formFor(operation, values, fields, "/onboarding"))
    expect(response.status).toBe(302)
  }
}

function titleOf(html: string): string {
  return decode(/<title>([^<]*)<\/title>/.exec(html)?.[1] ?? "")
}

function readMeta(html: string): Record<string, string> {
  return Object.fromEntries(
    [...html.matchAll(/<meta (?:name|property)="([^"]+)" content="([^"]*)"/g)].map(
      ([, name = "", content = ""]) => [name, decode(content)],
    ),
  )
}

function decode(markup: string): string {
  return markup
    .replaceAll("&quot;", '"')
    .replaceAll(/&#x27;|&#39;/g, "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&")
}
