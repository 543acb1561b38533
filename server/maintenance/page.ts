import { escapeMarkup } from "#server/transport/markup.ts"
import type { Theme } from "#server/transport/theme.ts"
import type { Language } from "#server/language-contract.ts"

interface Closed {
  /** The operator's message; null for the default one. */
  message: string | null
  language: Language
  nonce: string
  theme: Theme
  /** Seconds until the page reloads. */
  retryAfter: number
}

const TEXTS: Record<Language, Record<"kind" | "title" | "message" | "note" | "again", string>> = {
  en: {
    kind: "Maintenance",
    title: "Back soon",
    message: "We are working on Tideline, and open again in a few minutes.",
    note: "Nothing that was saved is lost. This page looks again by itself.",
    again: "Look now",
  },
  de: {
    kind: "Wartung",
    title: "Bald zurück",
    message: "Wir arbeiten an Tideline und öffnen in ein paar Minuten wieder.",
    note: "Nichts Gespeichertes ist verloren. Diese Seite sieht von selbst wieder nach.",
    again: "Jetzt nachsehen",
  },
}

/**
 * The page that visitors see during maintenance. It needs no script and no other file, and looks
 * like the others.
 */
export function closedPage({ message, language, nonce, theme, retryAfter }: Closed): string {
  const texts = TEXTS[language]
  return `<!doctype html>
<html lang="${language}"${theme === "system" ? "" : ` data-theme="${theme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta http-equiv="refresh" content="${retryAfter}">
<meta name="robots" content="noindex">
<title>${texts.title} · Tideline</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<header>${MARK}Tideline</header>
<main>
<p class="kind">${texts.kind}</p>
<h1>${texts.title}</h1>
<p>${escapeMarkup(message ?? texts.message)}</p>
<p class="note">${texts.note}</p>
<p><a href="">${texts.again}</a></p>
</main>
</body>
</html>
`
}

/** The logo of app/ui/logo.tsx. */
const MARK = `<svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true"><rect width="24" height="24" rx="6.5" fill="var(--accent)"/><path d="M4.5 14.25c1.9 0 1.9-1.7 3.75-1.7s1.9 1.7 3.75 1.7 1.9-1.7 3.75-1.7 1.9 1.7 3.75 1.7" fill="none" stroke="var(--on-accent)" stroke-width="2" stroke-linecap="round"/><path d="M4.5 8.5h15" stroke="var(--on-accent)" stroke-width="2" stroke-linecap="round" opacity=".55"/></svg>`

/** The colours of app/app.css. */
const STYLE = `
:root {
  color-scheme: light dark;
  --canvas: light-dark(oklch(0.988 0.002 220), oklch(0.168 0.012 235));
  --ink: light-dark(oklch(0.215 0.02 235), oklch(0.955 0.004 220));
  --muted: light-dark(oklch(0.44 0.02 230), oklch(0.755 0.012 225));
  --faint: light-dark(oklch(0.525 0.018 230), oklch(0.66 0.014 228));
  --accent: light-dark(oklch(0.495 0.088 217), oklch(0.755 0.1 205));
  --accent-strong: light-dark(oklch(0.43 0.08 219), oklch(0.82 0.094 204));
  --accent-ink: light-dark(oklch(0.44 0.084 218), oklch(0.82 0.1 203));
  --on-accent: light-dark(oklch(1 0 0), oklch(0.17 0.03 225));
}
:root[data-theme="light"] { color-scheme: light }
:root[data-theme="dark"] { color-scheme: dark }
* { box-sizing: border-box }
body {
  display: flex; flex-direction: column; min-height: 100dvh; margin: 0; padding: 0 1.5rem;
  background: var(--canvas); color: var(--ink);
  font: 1rem/1.625rem "Geist Variable", ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
header { display: flex; align-items: center; gap: .625rem; padding: 1.5rem 0; font-weight: 600; letter-spacing: -.025em }
main { flex: 1; align-self: center; display: flex; flex-direction: column; justify-content: center; max-width: 32rem; padding: 5rem 0 8rem; text-align: center }
p { margin: .75rem 0 0; color: var(--muted); overflow-wrap: break-word }
.kind { margin: 0; color: var(--accent-ink); font-size: .875rem }
h1 { margin: .75rem 0 0; font-size: 2rem; line-height: 2.375rem; font-weight: 600; letter-spacing: -.028em }
.note { color: var(--faint); font-size: .875rem }
a { display: inline-block; margin-top: 1.25rem; padding: .5rem 1rem; border-radius: .5rem; background: var(--accent); color: var(--on-accent); font-weight: 500; text-decoration: none }
a:hover { background: var(--accent-strong) }
a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
`
