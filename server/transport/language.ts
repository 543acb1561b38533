import { isLanguage, type Language } from "#server/language-contract.ts"

interface Wishes {
  /** All cookies, as in their header. */
  cookie?: string | null | undefined
  acceptLanguage?: string | null | undefined
}

/**
 * The reader's language: their choice here, else the first of their browser's that is supported,
 * else English.
 */
export function readLanguage({ headers }: Request): Language {
  return languageFor({ cookie: headers.get("cookie"), acceptLanguage: headers.get("accept-language") })
}

/** The same from the two headers. */
export function languageFor({ cookie, acceptLanguage }: Wishes): Language {
  return chosenLanguage(cookie) ?? languageOfBrowser(acceptLanguage ?? "")
}

/** The reader's choice here; null if there is none. */
export function chosenLanguage(cookie: string | null | undefined): Language | null {
  const chosen = /(?:^|;\s*)language=([a-z]+)(?:;|$)/.exec(cookie ?? "")?.[1]
  return chosen !== undefined && isLanguage(chosen) ? chosen : null
}

/** `de-AT, en;q=0.8` prefers German (RFC 9110, 12.5.4). Regions make no difference here. */
function languageOfBrowser(acceptLanguage: string): Language {
  let best: { language: Language; weight: number } | null = null
  for (const wish of acceptLanguage.split(",")) {
    const [, name = "", quality = "1"] =
      /^\s*([a-z]+)(?:-[a-z\d-]+)?\s*(?:;\s*q=([\d.]+)\s*)?$/i.exec(wish) ?? []
    const language = name.toLowerCase()
    const weight = Number(quality)
    if (isLanguage(language) && weight > (best?.weight ?? 0)) best = { language, weight }
  }
  return best?.language ?? "en"
}
