import { escapeMarkup } from "#server/transport/markup.ts"
import type { InboxMessage, MessageSummary } from "./local-inbox-store.ts"

export function inboxPage(messages: MessageSummary[]): string {
  const hint =
    messages.length > 0 ? "Choose a message to read it." : "Nothing yet. Emails appear here as they are sent."
  return page("Local inbox", messages, null, `<p class="empty">${hint}</p>`)
}

export function messagePage(messages: MessageSummary[], message: InboxMessage): string {
  const address = `/messages/${message.id}`
  return page(
    message.subject || "(no subject)",
    messages,
    message.id,
    `<article>
<h1>${escapeMarkup(message.subject || "(no subject)")}</h1>
<dl>
<dt>From</dt><dd>${escapeMarkup(message.from)}</dd>
<dt>To</dt><dd>${escapeMarkup(message.to)}</dd>
<dt>Received</dt><dd>${moment(message.receivedAt)}</dd>
</dl>
${message.html === null ? "" : `<iframe title="The message as it looks" src="${address}/html" sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe>`}
<details${message.html === null ? " open" : ""}><summary>Plain text</summary><pre>${escapeMarkup(message.text ?? "This message has no plain text.")}</pre></details>
<details><summary>Headers</summary><table>${message.headers
      .map(
        ({ name, value }) =>
          `<tr><th scope="row">${escapeMarkup(name)}</th><td>${escapeMarkup(value)}</td></tr>`,
      )
      .join("")}</table></details>
<p><a href="${address}/source">Source</a></p>
</article>`,
  )
}

/** Links open in a new window: the frame must not navigate its page. */
export function sandboxedHtml(html: string): string {
  return /<head[^>]*>/i.test(html)
    ? html.replace(/<head[^>]*>/i, (head) => `${head}<base target="_blank">`)
    : `<base target="_blank">${html}`
}

function page(title: string, messages: MessageSummary[], chosen: string | null, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${chosen ? "" : `<meta http-equiv="refresh" content="5">`}
<title>${escapeMarkup(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<header><a href="/">Local inbox</a><span>No mail leaves this machine. What Tideline sends ends up here.</span></header>
<div class="panes">
<nav aria-label="Messages"><ul>${messages.map((message) => entry(message, message.id === chosen)).join("")}</ul></nav>
<main>${content}</main>
</div>
</body>
</html>
`
}

function entry({ id, to, subject, receivedAt }: MessageSummary, isChosen: boolean): string {
  return `<li><a href="/messages/${id}"${isChosen ? ' aria-current="page"' : ""}><strong>${escapeMarkup(subject || "(no subject)")}</strong><span>${escapeMarkup(to)}</span>${moment(receivedAt)}</a></li>`
}

function moment(iso: string): string {
  return `<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time>`
}

const STYLE = `
:root { color-scheme: light dark; --paper: light-dark(#fff, #11191d); --deep: light-dark(#f3f6f7, #0b1114); --ink: light-dark(#12222a, #e6eef0); --quiet: light-dark(#55666e, #9db0b7); --line: light-dark(#dde5e8, #26363d); --accent: light-dark(#0f6674, #6cc6d3); --chosen: light-dark(#e3f0f2, #17303a) }
* { box-sizing: border-box }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--deep); min-height: 100vh; display: flex; flex-direction: column }
header { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: baseline; padding: 14px 20px; border-bottom: 1px solid var(--line); background: var(--paper) }
header a { font-weight: 700; font-size: 17px; color: var(--accent); text-decoration: none }
header span, time, nav span, dt { color: var(--quiet); font-size: 13px }
.panes { flex: 1; display: grid; grid-template-columns: minmax(240px, 340px) 1fr }
nav { border-right: 1px solid var(--line); background: var(--paper) }
ul { list-style: none; margin: 0; padding: 0 }
nav a { display: grid; padding: 12px 20px; border-bottom: 1px solid var(--line); color: inherit; text-decoration: none; overflow-wrap: anywhere }
nav a:hover, nav a[aria-current] { background: var(--chosen) }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px }
main { padding: 24px; min-width: 0 }
h1 { margin: 0 0 12px; font-size: 22px; line-height: 1.3; overflow-wrap: anywhere }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 0 0 16px }
dd { margin: 0; overflow-wrap: anywhere }
iframe { width: 100%; height: 620px; border: 1px solid var(--line); border-radius: 8px; background: #fff }
details { margin: 16px 0 } summary { cursor: pointer; color: var(--accent) }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 16px; border: 1px solid var(--line); border-radius: 8px; background: var(--paper) }
table { border-collapse: collapse; font-size: 13px } th, td { text-align: left; vertical-align: top; padding: 4px 12px 4px 0; overflow-wrap: anywhere } th { white-space: nowrap; color: var(--quiet); font-weight: 500 }
main a { color: var(--accent) } .empty { color: var(--quiet) }
@media (max-width: 720px) { .panes { grid-template-columns: 1fr } nav { border-right: 0 } nav ul { max-height: 40vh; overflow: auto } }
`
