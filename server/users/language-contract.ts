/** The languages of the interface. English stands in the source where it is read, each other one in its catalogues. */
export const LANGUAGES = ["en", "de"] as const

export type Language = (typeof LANGUAGES)[number]

export function isLanguage(text: string): text is Language {
  return LANGUAGES.some((language) => language === text)
}
