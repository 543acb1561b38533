import { setupI18n, type I18n, type Messages } from "@lingui/core"
import { isLanguage, type Language } from "#server/language-contract.ts"

/**
 * One instance per language, never changed, because the server handles requests of both languages
 * at the same time.
 */
const inLanguage: Record<Language, I18n> = {
  // The English texts are in the source. Dates and numbers are formatted as in Britain.
  en: setupI18n({ locale: "en", locales: "en-GB", messages: { en: {} } }),
  de: setupI18n({ locale: "de", locales: "de-DE", messages: { de: {} } }),
}

export function i18nIn(language: Language): I18n {
  return inLanguage[language]
}

/** For `meta` functions, which cannot use hooks: the language of the page, from the root loader. */
export function i18nOf(matches: readonly ({ id: string; loaderData?: unknown } | undefined)[]): I18n {
  const root = matches.find((match) => match?.id === "root")?.loaderData
  const known = typeof root === "object" && root !== null && "language" in root ? String(root.language) : ""
  return i18nIn(isLanguage(known) ? known : "en")
}

/**
 * For code in the browser outside components, such as requests. A document never changes its
 * language.
 */
export function i18nOfDocument(): I18n {
  const { lang } = document.documentElement
  return i18nIn(isLanguage(lang) ? lang : "en")
}

/**
 * The server adds all catalogues when it starts; a browser adds those of its page before hydration.
 */
export function addMessages(language: Language, ...catalogues: Messages[]) {
  for (const messages of catalogues) inLanguage[language].load(language, messages)
}
