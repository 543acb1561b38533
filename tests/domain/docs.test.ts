import { readFile } from "node:fs/promises"
import { describe, expect, it } from "vitest"
import { SESSION_LIFE } from "#server/adapters/identity/embedded/auth.ts"
import { findDocsPage, listDocs } from "#server/docs/pages.ts"
import { searchDocs } from "#server/docs/search.ts"

const slugs = listDocs().flatMap((group) => group.pages.map((page) => page.slug))

describe("the documentation", () => {
  it.each(slugs)("%s has one title, a description, and headings that its contents link to", (slug) => {
    const page = findDocsPage(slug)
    expect(page?.html.match(/<h1>/g)).toHaveLength(1)
    expect(page?.description.length).toBeGreaterThan(40)
    for (const { id } of page?.headings ?? []) expect(page?.html).toContain(`<h2 id="${id}">`)
    expect(new Set(page?.headings.map((heading) => heading.id)).size).toBe(page?.headings.length)
  })

  it.each(slugs)("%s links only to pages that are served", (slug) => {
    const html = findDocsPage(slug)?.html ?? ""
    for (const [, href = ""] of html.matchAll(/<a href="([^"]*)"/g)) {
      expect(href).toMatch(/^(https:|\/|#.)/)
      const [path = "", hash] = href.split("#")
      const target = path.startsWith("/docs/") ? findDocsPage(path.slice("/docs/".length)) : undefined
      expect(target, href).not.toBeNull()
      if (target && hash) expect(target.html, href).toContain(`id="${hash}"`)
    }
  })

  it("shows commands verbatim, with nothing in them interpreted as HTML", () => {
    const html = findDocsPage("self-hosting")?.html ?? ""
    expect(html).toContain("MAIL_FROM=Tideline &lt;hello@example.org&gt;")
    expect(html).not.toContain("<hello@example.org>")
  })

  it.each(["", "nothing", "decisions/0001-explicit-routes", "../README", "__proto__"])(
    "has no page %j",
    (slug) => {
      expect(findDocsPage(slug)).toBeNull()
    },
  )

  it("explains every setting of .env.example", async () => {
    const example = await readFile(".env.example", "utf8")
    const html = findDocsPage("self-hosting")?.html ?? ""
    const settings = [...example.matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name)
    expect(settings.length).toBeGreaterThan(20)
    expect(settings.filter((name) => !html.includes(`<code>${name}</code>`))).toEqual([])
  })
})

it("the page on uploads says which types are accepted, how large a file may be, and how it is served", () => {
  const html = findDocsPage("http-api")?.html ?? ""
  const uploads = html.slice(html.indexOf('<h2 id="files">'))
  for (const words of [
    "Any type of file",
    "FILES_MAX_SIZE",
    "FILES_QUOTA_FREE",
    "read from its bytes",
    "nosniff",
  ])
    expect(uploads).toContain(words)
})

it("the documentation says how long a session lasts", () => {
  const html = findDocsPage("identity")?.html ?? ""
  expect(html).toContain(`${SESSION_LIFE / (24 * 60 * 60)} days after the last use`)
})

describe("searching the documentation", () => {
  it("finds the section that explains a setting, by its name or its beginning", () => {
    for (const words of ["DATABASE_URL", "database_u"]) {
      const [first] = searchDocs(words)
      expect(first?.page).toBe("Self-hosting")
      expect(first?.excerpt.filter(({ isFound }) => isFound).map(({ text }) => text.toLowerCase())).toContain(
        words.toLowerCase(),
      )
    }
  })

  it("requires every word, and ranks headings first", () => {
    expect(searchDocs("containers docker").length).toBeGreaterThan(0)
    expect(searchDocs("containers xyzzy")).toEqual([])
    expect(searchDocs("containers")[0]?.title.toLowerCase()).toContain("containers")
  })

  it("finds a live query by its name", () => {
    const titles = searchDocs("files.listTrash").map(({ title }) => title)
    expect(titles).toContain("files.listTrash")
  })

  it("links to sections that exist", () => {
    const found = ["settings", "mail", "token", "position", "rate", "key"].flatMap((word) => searchDocs(word))
    expect(found.length).toBeGreaterThan(10)
    for (const { address } of found) {
      const [path = "", id] = address.split("#")
      const html = findDocsPage(path.slice("/docs/".length))?.html
      expect(html, address).toBeDefined()
      if (id) expect(html, address).toContain(`id="${id}"`)
    }
  })

  it.each(["", "   ", "((((", "[a-z]*", "\\", "<script>"])("treats %j as plain words", (words) => {
    expect(() => searchDocs(words)).not.toThrow()
  })
})
