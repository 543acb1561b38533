import { I18nProvider } from "@lingui/react"
import { renderToString } from "react-dom/server"
import { describe, expect, it } from "vitest"
import { i18nIn } from "#app/language/i18n.ts"
import { Markdown } from "#app/features/markdown/markdown.tsx"
import { readReplies } from "#app/features/markdown/read-replies.ts"
import { ReadingsContext } from "#app/features/markdown/readings.ts"

/** A reply as a page shows it, with what matters of its elements. Formulas are in `⟦⟧`. */
async function show(text: string) {
  const readings = await readReplies([{ role: "assistant", parts: [{ type: "text", text }] }])
  const html = renderToString(
    <I18nProvider i18n={i18nIn("en")}>
      <ReadingsContext value={readings}>
        <Markdown text={text} />
      </ReadingsContext>
    </I18nProvider>,
  )
  return html
    .replace(/<code class="font-mono text-\[0\.875em\] text-muted">(.*?)<\/code>/gs, "⟦$1⟧")
    .replace(/<a href="([^"]*)"[^>]*>/g, "<a $1>")
    .replace(/<button.*?<\/button>|<svg.*?<\/svg>|<!-- -->/gs, "")
    .replace(/<\/?(?:div|span|thead|tbody)\b[^>]*>/g, "")
    .replace(/<(?!a )(\w+)[^>]*>/g, "<$1>")
    .replaceAll("\u00a0", "␣")
}

const inputs: [text: string, shown: string][] = [
  // Money and formulas
  ["~$1,550 less a year; R$ 10", "<p>~$1,550 less a year; R$ 10</p>"],
  ["US$5/month, a$ap", "<p>US$5/month, a$ap</p>"],
  ["$15.4/月，$20/年", "<p>$15.4/月，$20/年</p>"],
  ["from $5 to $10", "<p>from $5 to $10</p>"],
  ["It costs $5 or 10$.", "<p>It costs $5 or 10$.</p>"],
  ["$HOME and $PATH", "<p>$HOME and $PATH</p>"],
  ["A$ 5 and R$ 10", "<p>A$ 5 and R$ 10</p>"],
  ["$\\$0.60$", "<p>⟦\\$0.60⟧</p>"],
  ["It is $e = mc^2$.", "<p>It is ⟦e = mc^2⟧.</p>"],
  ["$2x + 3 = y$", "<p>⟦2x + 3 = y⟧</p>"],
  ["$x$-axis", "<p>⟦x⟧-axis</p>"],
  ["$n$th", "<p>⟦n⟧th</p>"],
  ["若$x>0$，则", "<p>若⟦x&gt;0⟧，则</p>"],
  ["\\(a\\) and \\[b\\]", "<p>⟦a⟧ and ⟦b⟧</p>"],
  ["$$\na|b\n$$", "⟦a|b⟧"],
  ["Then\n$$\na\n$$\nand on.", "<p>Then</p>⟦a⟧<p>and on.</p>"],
  ["- $$\n  a\n  $$", "<ul><li>⟦a⟧</li></ul>"],
  // Tables
  [
    "| $P(A|B)$ | b |\n| - | - |\n| $\\{x \\| x>0\\}$ | $5 |",
    "<table><tr><th>⟦P(A|B)⟧</th><th>b</th></tr><tr><td>⟦\\{x \\| x&gt;0\\}⟧</td><td>$5</td></tr></table>",
  ],
  [
    "| a | b |\n| - | - |\n| $5 | $6 |",
    "<table><tr><th>a</th><th>b</th></tr><tr><td>$5</td><td>$6</td></tr></table>",
  ],
  ["| a |\n| - |\n| one<br>two |", "<table><tr><th>a</th></tr><tr><td>one<br>two</td></tr></table>"],
  ["| a |\n| - |\n| `x \\| y` |", "<table><tr><th>a</th></tr><tr><td><code>x | y</code></td></tr></table>"],
  ["a | b\n:-: | -:\n1 | 2", "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"],
  // Tags
  ["H<sub>2</sub>O and x<sup>2</sup>", "<p>H<sub>2</sub>O and x<sup>2</sup></p>"],
  ["Press <kbd>Ctrl</kbd>+<kbd>C</kbd>.", "<p>Press <kbd>Ctrl</kbd>+<kbd>C</kbd>.</p>"],
  ["one<br/>two<BR>three", "<p>one<br>two<br>three</p>"],
  ["<sub>**a**</sub>", "<p><sub><strong>a</strong></sub></p>"],
  ["<sub>open", "<p>&lt;sub&gt;open</p>"],
  ["<sub onclick=x>a</sub>", "<p>&lt;sub onclick=x&gt;a&lt;/sub&gt;</p>"],
  ["a <b>bold</b> word", "<p>a &lt;b&gt;bold&lt;/b&gt; word</p>"],
  [
    "<details>\n<summary>More</summary>\n\nIt is **so**.\n\n</details>",
    "<details><summary>More</summary><p>It is <strong>so</strong>.</p></details>",
  ],
  [
    "<details><summary>More</summary>It is so.</details>",
    "<details><summary>More</summary><p>It is so.</p></details>",
  ],
  ["<details>\n\nnever closed", "<p>&lt;details&gt;</p><p>never closed</p>"],
  [
    "<details><summary>More</summary>never closed",
    "<p>&lt;details&gt;&lt;summary&gt;More&lt;/summary&gt;never closed</p>",
  ],
  ["`<br>` and \\<br>", "<p><code>&lt;br&gt;</code> and &lt;br&gt;</p>"],
  ["List<String> and <channel>", "<p>List&lt;String&gt; and &lt;channel&gt;</p>"],
  // Entities
  ["AT&amp;T", "<p>AT&amp;T</p>"],
  ["a&nbsp;b", "<p>a␣b</p>"],
  ["&lt;tag&gt; &copy; &#8364; &#x20AC;", "<p>&lt;tag&gt; © € €</p>"],
  ["`&amp;` and &unknown;", "<p><code>&amp;amp;</code> and &amp;unknown;</p>"],
  ["[a](https://example.org/?a=1&amp;b=2)", "<p><a https://example.org/?a=1&amp;b=2>a</a> (example.org)</p>"],
  // Emphasis beside Chinese, Japanese and Korean
  ["**历经10年发展，**年", "<p><strong>历经10年发展，</strong>年</p>"],
  ["**「重要」**です", "<p><strong>「重要」</strong>です</p>"],
  ["これは**太字。**です", "<p>これは<strong>太字。</strong>です</p>"],
  ["**한국어(Korean)**는", "<p><strong>한국어(Korean)</strong>는</p>"],
  ["*斜体*文字", "<p><em>斜体</em>文字</p>"],
  ["snake_case_name and 2 * 3 * 4", "<p>snake_case_name and 2 * 3 * 4</p>"],
  ["***both*** and ~~gone~~", "<p><em><strong>both</strong></em> and <del>gone</del></p>"],
  // Links
  [
    "见 https://example.org/a。下一句",
    "<p>见 <a https://example.org/a>https://example.org/a</a>。下一句</p>",
  ],
  ["见 https://example.org/a，再", "<p>见 <a https://example.org/a>https://example.org/a</a>，再</p>"],
  ["（https://example.org/a）", "<p>（<a https://example.org/a>https://example.org/a</a>）</p>"],
  [
    "https://ja.wikipedia.org/wiki/日本",
    "<p><a https://ja.wikipedia.org/wiki/%E6%97%A5%E6%9C%AC>https://ja.wikipedia.org/wiki/日本</a></p>",
  ],
  [
    "See https://example.org/a_(b), then.",
    "<p>See <a https://example.org/a_(b)>https://example.org/a_(b)</a>, then.</p>",
  ],
  [
    "www.example.org and ada@example.org",
    "<p><a http://www.example.org/>www.example.org</a> and <a mailto:ada@example.org>ada@example.org</a></p>",
  ],
  ["README.md and node.js", "<p>README.md and node.js</p>"],
  [
    "[https://bank.example/login](https://evil.example/steal)",
    "<p><a https://evil.example/steal>https://bank.example/login</a> (evil.example)</p>",
  ],
  [
    "[https://bank.example/login?from=evil.example](https://evil.example/steal)",
    "<p><a https://evil.example/steal>https://bank.example/login?from=evil.example</a> (evil.example)</p>",
  ],
  [
    "[evil.example.bank.example](https://evil.example/)",
    "<p><a https://evil.example/>evil.example.bank.example</a> (evil.example)</p>",
  ],
  [
    "[bank.example (evil.example)](https://evil.example/)",
    "<p><a https://evil.example/>bank.example (evil.example)</a> (evil.example)</p>",
  ],
  [
    "[https://evil.example@bank.example/](https://evil.example/)",
    "<p><a https://evil.example/>https://evil.example@bank.example/</a> (evil.example)</p>",
  ],
  ["[example.org](https://example.org/a)", "<p><a https://example.org/a>example.org</a></p>"],
  [
    "[the manual at example.org](https://example.org/a)",
    "<p><a https://example.org/a>the manual at example.org</a></p>",
  ],
  ["<https://example.org/>", "<p><a https://example.org/>https://example.org/</a></p>"],
  // Thoughts
  [
    "Let me see.\n</think>\n\nIt is 4.",
    "<details><summary>Reasoning</summary><p>Let me see.</p></details><p>It is 4.</p>",
  ],
  ["Write `</think>` at the end.", "<p>Write <code>&lt;/think&gt;</code> at the end.</p>"],
  ["```\na\n</think>\n```", "text<pre><code>a\n&lt;/think&gt;</code></pre>"],
  // Fences
  ["````markdown\n```ts\nlet x\n```\n````", "markdown<pre><code>```ts\nlet x\n```</code></pre>"],
  ["~~~\n```\n~~~\nafter", "text<pre><code>```</code></pre><p>after</p>"],
  [
    "```markdown\na\n```ts\nlet x\n```\nb\n```",
    "markdown<pre><code>a\n```ts\nlet x</code></pre><p>b</p>text<pre><code></code></pre>",
  ],
  [
    "1. one\n   ```\n   code\n   ```\n2. two",
    "<ol><li>onetext<pre><code>code</code></pre></li><li>two</li></ol>",
  ],
  ["- [x] done\n- [ ] not", "<ul><li><input>done</li><li><input>not</li></ul>"],
]

describe("a reply shows what was meant", () => {
  it.each(inputs)("%s", async (text, shown) => {
    expect(await show(text)).toBe(shown)
  })
})
