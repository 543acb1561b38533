import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { describe, expect, it } from "vitest"
import previews from "#app/features/site/share-pictures.json" with { type: "json" }
import { openBrowser, signUp } from "../support/people.ts"
import { posts, publicPages } from "../support/public-pages.ts"
import { withTideline } from "../support/with-tideline.ts"

const { app } = withTideline({
  settings: { FILES_QUOTA_FREE: "7GB", FILES_MAX_SIZE: "123MB", CHAT_RATE_LIMIT: "17" },
})

describe("a public page", () => {
  it.each(publicPages)(
    "%s works without our JavaScript: it ships one script of under 2 KB, for its copy buttons",
    async (path) => {
      const html = await textOf(path)
      const scripts = [...html.matchAll(/<script(?![^>]*ld\+json)[^>]*>/g)].map(([tag]) => tag)
      expect(scripts).toHaveLength(1)
      const source = /src="([^"]+)"/.exec(scripts[0] ?? "")?.[1] ?? ""
      expect((await textOf(source)).length).toBeLessThan(2048)
      expect(html).not.toContain("modulepreload")
    },
  )

  it.each(publicPages)("%s has one main heading, one canonical URL, and a link preview", async (path) => {
    const html = await textOf(path)
    expect(html.match(/<h1[\s>]/g)).toHaveLength(1)
    expect(html.match(/<title>[^<]+<\/title>/g)).toHaveLength(1)
    expect(html).toContain(`<link rel="canonical" href="${app.origin}${path}"/>`)
    expect(html).toContain(`<meta property="og:url" content="${app.origin}${path}"/>`)
    const said = (name: string) => new RegExp(`<meta property="og:${name}" content="([^"]+)"`).exec(html)?.[1]
    expect((await fetch(said("image") ?? "")).headers.get("content-type")).toBe("image/png")
    // Rendered with the current title of the page. If not: npm run share-pictures
    const drawn: Partial<Record<string, { title: string; file: string }>> = previews
    expect(drawn[path]).toEqual({ title: said("title"), file: said("image")?.slice(app.origin.length) })
  })

  it("has structured data in valid JSON, with the public URL", async () => {
    for (const path of ["/", "/about", "/blog", posts[0] ?? ""]) {
      const html = await textOf(path)
      const blocks = [...html.matchAll(/<script type="application\/ld\+json"[^>]*>(.*?)<\/script>/g)]
      expect(blocks.length).toBeGreaterThan(0)
      for (const [, json = ""] of blocks) {
        expect(JSON.parse(json)).toMatchObject({ "@context": "https://schema.org" })
      }
    }
  })

  it("has no broken link", async () => {
    const seen = new Set<string>(publicPages)
    const waiting = [...publicPages]
    const broken: string[] = []
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      const response = await fetch(app.origin + path, { redirect: "manual" })
      if (response.status >= 400) broken.push(path)
      if (!response.headers.get("content-type")?.startsWith("text/html")) continue
      const html = await response.text()
      for (const [, link = ""] of html.matchAll(/(?:href|src)="(\/[^"#]*)/g)) {
        if (!seen.has(link)) waiting.push(link)
        seen.add(link)
      }
      for (const [, id = ""] of html.matchAll(/href="#([^"]+)"/g)) {
        if (!html.includes(`id="${id}"`)) broken.push(`${path}#${id}`)
      }
    }
    expect(broken).toEqual([])
    expect(seen.size).toBeGreaterThan(publicPages.length + 5)
  })

  it("offers sign-in to a visitor, and the dashboard to anyone who is signed in", async () => {
    expect(await textOf("/")).toContain('href="/sign-in"')
    const ada = await signUp(app, { name: "Ada Lovelace", email: "ada@example.org" })
    const html = await (await ada("/")).text()
    expect(html).not.toContain('href="/sign-in"')
    expect(html).toContain('href="/dashboard"')
  })
})

describe("code that a public page quotes", () => {
  it.each(["/features", "/blog/a-commit-is-the-announcement"])("is in the source, on %s", async (path) => {
    const html = await textOf(path)
    const quotes = [...html.matchAll(/<pre[^>]* data-quote="([^"]+)"[^>]*>(.*?)<\/pre>/gs)]
    expect(quotes).toHaveLength(1)
    for (const [, file = "", quote = ""] of quotes) {
      const source = readFileSync(resolve(import.meta.dirname, "../..", file), "utf8")
      const [code = ""] = textIn(quote).split("\n\n// ")
      for (const part of code.split(/^ *…\n/m)) expect(source).toContain(part.trimEnd())
    }
  })
})

describe("a signed-in reader", () => {
  it.each(["/", "/pricing", "/features"])("is led to the dashboard from %s, not to sign up", async (path) => {
    const grace = await signUp(app, {
      name: "Grace Hopper",
      email: `grace-of${path.replace("/", "-")}@example.org`,
    })
    const html = await (await grace(path)).text()
    expect(html).toContain('href="/dashboard"')
    expect(html).not.toContain('href="/sign-up"')
  })
})

describe("the footer", () => {
  it("leads to no waitlist while anyone can sign up", async () => {
    expect(await textOf("/")).not.toContain('href="/waitlist"')
  })
})

describe("the pricing page", () => {
  it("states this server's configured limits", async () => {
    const html = await textOf("/pricing")
    expect(html).toContain("7 GB of file storage")
    expect(html).toContain("100 GB of file storage")
    expect(html).toContain("10,000 files, up to 123 MB each")
    expect(html).toContain("17 chat requests per minute")
  })
})

describe("the documentation", () => {
  it("is reached from /docs, whose target no request can change", async () => {
    const response = await fetch(`${app.origin}/docs?to=https://evil.example`, { redirect: "manual" })
    expect(response.status).toBe(302)
    expect(response.headers.get("location")).toBe("/docs/introduction")
  })

  it.each(["/docs/nothing", "/docs/..%2f..%2fpackage.json", "/docs/%00"])(
    "%s does not exist",
    async (path) => {
      const response = await fetch(app.origin + path)
      expect(response.status).toBe(404)
      expect(await response.text()).toContain("Page not found")
    },
  )
})

describe("the blog's feed", () => {
  it("has every post, with its date and its absolute URL", async () => {
    const response = await fetch(`${app.origin}/blog/feed.xml`)
    expect(response.status).toBe(200)
    expect(response.headers.get("content-type")).toBe("application/rss+xml; charset=utf-8")
    const feed = await response.text()
    expect(feed.match(/<item>/g)).toHaveLength(posts.length)
    for (const path of posts) expect(feed).toContain(`<link>${app.origin}${path}</link>`)
    expect(feed).not.toMatch(/&(?!(amp|lt|gt|quot|#39);)/)
  })
})

describe.each([{ theme: "dark" }, { language: "de" }])("the redirect after choosing %j", (choice) => {
  it.each([
    "https://evil.example/",
    "//evil.example",
    "/\t/evil.example",
    "/\\evil.example",
    "javascript:alert(1)",
    "pricing",
  ])("never leads to %s", async (from) => {
    const response = await choose(openBrowser(app), { ...choice, from })
    expect(response.headers.get("location")).toBe("/")
  })
})

describe("the colour scheme", () => {
  it("is kept in a cookie, and the next page is rendered in it", async () => {
    const browser = openBrowser(app)
    const response = await choose(browser, { theme: "dark", from: "/pricing?a=b" })
    expect(response.status).toBe(303)
    expect(response.headers.get("location")).toBe("/pricing?a=b")
    expect(response.headers.get("set-cookie")).toMatch(
      /^theme=dark; Path=\/; Max-Age=31536000; SameSite=Lax; HttpOnly$/,
    )
    expect(await (await browser("/")).text()).toContain('<html lang="en" data-theme="dark">')
  })

  it("is forgotten if the system's is chosen", async () => {
    const browser = openBrowser(app, { theme: "light" })
    expect(await (await browser("/")).text()).toContain('<html lang="en" data-theme="light">')
    await choose(browser, { theme: "system", from: "/" })
    expect(browser.cookie()).toBe("")
    expect(await (await browser("/")).text()).toContain('<html lang="en">')
  })

  it.each(["purple", "", "dark; Domain=evil.example"])("%j is rejected", async (theme) => {
    const response = await choose(openBrowser(app), { theme, from: "/" })
    expect(response.status).toBe(400)
    expect(response.headers.get("set-cookie")).toBeNull()
  })

  it("cannot be changed by another site", async () => {
    const response = await fetch(`${app.origin}/theme`, {
      method: "POST",
      headers: { origin: "https://evil.example", "content-type": "application/x-www-form-urlencoded" },
      body: "theme=dark",
      redirect: "manual",
    })
    expect(response.status).toBe(403)
    expect(response.headers.get("set-cookie")).toBeNull()
  })
})

describe("the language", () => {
  it("is kept in a cookie, and the next page is rendered in it", async () => {
    const browser = openBrowser(app)
    const response = await choose(browser, { language: "de", from: "/pricing?a=b" })
    expect(response.status).toBe(303)
    expect(response.headers.get("location")).toBe("/pricing?a=b")
    expect(response.headers.get("set-cookie")).toMatch(
      /^language=de; Path=\/; Max-Age=31536000; SameSite=Lax; HttpOnly$/,
    )
    const there = await choose(browser, { language: "de", from: "/sign-in" })
    expect(there.headers.get("location")).toBe("/sign-in")
    const page = await browser("/")
    expect(page.headers.get("content-language")).toBe("de")
    expect(page.headers.get("vary")).toMatch(/accept-language/)
    expect(await page.text()).toContain('<html lang="de">')
  })

  it.each(["fr", "", "de; Domain=evil.example"])("%j is rejected", async (language) => {
    const response = await choose(openBrowser(app), { language, from: "/" })
    expect(response.status).toBe(400)
    expect(response.headers.get("set-cookie")).toBeNull()
  })

  it("is the browser's until someone chooses", async () => {
    const browser = openBrowser(app)
    const inGerman = { headers: { "accept-language": "de-AT, en;q=0.5" } }
    expect(await (await browser("/sign-in", inGerman)).text()).toContain('<html lang="de"')
    await choose(browser, { language: "en", from: "/" })
    expect(await (await browser("/sign-in", inGerman)).text()).toContain('<html lang="en"')
  })

  it("decides how a page formats dates and sizes, its title and its description", async () => {
    expect(await germanOf("/blog")).toMatch(
      /<time[^>]*>\d+\. (Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember) \d{4}</,
    )
    const pricing = await germanOf("/pricing")
    expect(pricing).toContain("<title>Tarife · Tideline</title>")
    expect(pricing).toContain('<meta property="og:locale" content="de_DE"/>')
    expect(pricing).toContain("7 GB Speicherplatz für Dateien")
    expect(pricing).toContain("17 Chat-Anfragen pro Minute")
  })

  it("leaves long texts in English, marks them as such, and says so", async () => {
    for (const path of ["/privacy", "/docs/introduction", posts[0]]) {
      const html = await germanOf(path ?? "")
      expect(html).toContain("Diesen Text gibt es nur auf Englisch.")
      expect(html).toMatch(/<(article|div) lang="en"/)
      expect(await textOf(path ?? "")).not.toContain("nur auf Englisch")
    }
  })
})

async function textOf(path: string): Promise<string> {
  const response = await fetch(app.origin + path)
  expect(response.status).toBe(200)
  return response.text()
}

async function germanOf(path: string): Promise<string> {
  const response = await fetch(app.origin + path, { headers: { "accept-language": "de" } })
  return response.text()
}

/** For the colours or the language: the action's URL is named after what is chosen. */
function choose(browser: ReturnType<typeof openBrowser>, fields: Record<string, string>) {
  const address = "theme" in fields ? "/theme" : "/language"
  return browser(address, { method: "POST", body: new URLSearchParams(fields) })
}

/** The text of escaped HTML. */
function textIn(html: string): string {
  const entities: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', "#x27": "'" }
  return html
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/&(lt|gt|amp|quot|#x27);/g, (_, name: string) => entities[name] ?? "")
}
