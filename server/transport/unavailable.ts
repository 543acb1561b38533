import type { Language } from "#server/language-contract.ts"
import { readLanguage } from "./language.ts"
import { bodyOf } from "./refusals.ts"

/** Why: it cannot be reached, or its disk is full. */
type Cause = "database-outage" | "database-full"

/**
 * The response while the database is unreachable or full, instead of `failed`: JSON for the API, a page for
 * people. React Router's own data requests keep the body that their client understands.
 */
export async function unavailable(request: Request, failed: Response, cause: Cause): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (failed.headers.has("x-remix-response")) {
    return new Response(failed.body, { status: 503, headers: withRetry(failed.headers) })
  }
  await failed.body?.cancel()
  if (pathname.startsWith("/api/")) {
    return Response.json(bodyOf(cause), {
      status: 503,
      headers: withRetry({ "content-type": "application/json; charset=utf-8" }),
    })
  }
  const language = readLanguage(request)
  return new Response(pageIn(language, cause), {
    status: 503,
    headers: withRetry({ "content-type": "text/html; charset=utf-8", "content-language": language }),
  })
}

function withRetry(init: HeadersInit) {
  const headers = new Headers(init)
  headers.set("retry-after", "5")
  headers.set("cache-control", "no-store")
  return headers
}

const WORDS: Record<Language, Record<Cause | "title" | "again", string>> = {
  en: {
    title: "Back in a moment",
    "database-outage":
      "Tideline cannot reach its database. It keeps trying, and nothing that was saved is lost.",
    "database-full":
      "The server has no disk space left, so nothing was changed. Nothing that was saved is lost.",
    again: "Try again",
  },
  de: {
    title: "Gleich wieder da",
    "database-outage":
      "Tideline erreicht seine Datenbank nicht. Es versucht es weiter, und nichts Gespeichertes ist verloren.",
    "database-full":
      "Auf dem Server ist kein Speicherplatz mehr frei, deshalb wurde nichts geändert. Nichts Gespeichertes ist verloren.",
    again: "Erneut versuchen",
  },
}

/** Needs nothing else: no style sheet, no script, no database. */
function pageIn(language: Language, cause: Cause): string {
  const { title, again, [cause]: text } = WORDS[language]
  return `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Tideline</title>
<body style="font: 1rem/1.6 system-ui, sans-serif; max-width: 34rem; margin: 20vh auto; padding: 0 1.5rem">
<h1 style="font-size: 1.5rem">${title}</h1>
<p>${text}</p>
<p><a href="">${again}</a></p>
</body>
</html>
`
}
