/** The languages of the interface. English is in the source, the others are in catalogues. */
export const LANGUAGES = ["en", "de"] as const

export type Language = (typeof LANGUAGES)[number]

export function isLanguage(text: string): text is Language {
  return LANGUAGES.some((language) => language === text)
}
