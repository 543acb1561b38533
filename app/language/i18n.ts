import { setupI18n, type I18n, type Messages } from "@lingui/core"
import { isLanguage, type Language } from "#server/users/language-contract.ts"

/**
 * One for each language, never one that changes: requests of two languages are answered at the same
 * time.
 */
const inLanguage: Record<Language, I18n> = {
  // The words are in the source. Dates and numbers are written as in Britain.
  en: setupI18n({ locale: "en", locales: "en-GB", messages: { en: {} } }),
  de: setupI18n({ locale: "de", locales: "de-DE", messages: { de: {} } }),
}

export function i18nIn(language: Language): I18n {
  return inLanguage[language]
}

/**
 * For `meta` functions, which are no components: the language of the page, as the root loader says
 * it.
 */
export function i18nOf(matches: readonly ({ id: string; loaderData?: unknown } | undefined)[]): I18n {
  const root = matches.find((match) => match?.id === "root")?.loaderData
  const known = typeof root === "object" && root !== null && "language" in root ? String(root.language) : ""
  return i18nIn(isLanguage(known) ? known : "en")
}

/**
 * For what a browser does outside of components, requests for example: a document keeps the
 * language it came in.
 */
export function i18nOfDocument(): I18n {
  const { lang } = document.documentElement
  return i18nIn(isLanguage(lang) ? lang : "en")
}

/**
 * The server adds all catalogues when it starts, a browser those of its page before it hydrates it.
 */
export function addMessages(language: Language, ...catalogues: Messages[]) {
  for (const messages of catalogues) inLanguage[language].load(language, messages)
}
