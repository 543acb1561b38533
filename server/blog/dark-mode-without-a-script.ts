import type { BlogPost } from "./contract.ts"
import { author } from "./author.ts"

export const darkModeWithoutAScript: BlogPost = {
  slug: "dark-mode-without-a-script",
  title: "Dark mode without a script, or a flash",
  excerpt:
    "One cookie, one CSS function and a form. No inline script, no class swapped after the first paint, and it works with JavaScript switched off.",
  publishedAt: "2026-11-14",
  author,
  content: `
<p>The usual recipe for dark mode keeps the choice in local storage. The server cannot read local storage, so it sends a light page. A small script at the top of the document then looks up the choice and repairs the page before anybody notices. On a slow phone somebody notices.</p>
<p>It also means that a strict content security policy needs an exception for that script, and that a reader without JavaScript has no choice at all.</p>

<h2>Let the server know</h2>
<p>A choice that the server has to act on belongs in a cookie. The switch at the foot of this page is a form with three buttons. Pressing one posts <code>theme=dark</code>, <code>theme=light</code> or <code>theme=system</code>; the answer sets a cookie and sends you back to where you were. From then on the document arrives with the right attribute already on it:</p>
<pre tabindex="0"><code>&lt;html lang="en" data-theme="dark"&gt;</code></pre>
<p>Most people never choose. For them there is no cookie and no attribute, and the browser decides.</p>

<h2>Let the browser decide</h2>
<p>The colours themselves are written once, with <code>light-dark()</code>:</p>
<pre tabindex="0"><code>--color-canvas: light-dark(oklch(0.988 0.002 220), oklch(0.168 0.012 235));

html { color-scheme: light dark }
html[data-theme="light"] { color-scheme: light }
html[data-theme="dark"] { color-scheme: dark }</code></pre>
<p>That is the whole mechanism. <code>light-dark()</code> follows <code>color-scheme</code>; <code>color-scheme</code> follows the attribute if there is one and the system if there is none. Scroll bars, form controls and the colour of the page before the first paint follow it as well, because the browser knows about it rather than being dressed up.</p>

<h2>Why oklch</h2>
<p>In <code>oklch</code> the first number is lightness as an eye sees it. Two colours with the same number look equally light whatever their hue, so contrast can be planned instead of tried: the muted text of the light theme sits at 0.44 on a canvas at 0.99, and a danger, a warning and a success badge can share a recipe and differ in hue alone. Every page is checked by axe in both themes, and contrast below the WCAG AA ratio fails the test run.</p>
`,
}
