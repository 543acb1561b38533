import { createContext, useContext } from "react"
import type { Theme } from "#app/ui/theme-toggle.tsx"
import { isLanguage, type Language } from "#server/users/language-contract.ts"

/** What a document is drawn by. */
export interface Reader {
  language: Language
  theme: Theme
}

/**
 * The server fills it for every page: a request that a middleware refused has an error page, and no
 * answer of the root's loader.
 */
export const ReaderContext = createContext<Reader | null>(null)

/** As the root's loader said it, else as the request or the document does. */
export function useReader(loaded: Reader | undefined): Reader {
  const asked = useContext(ReaderContext)
  return loaded ?? asked ?? readerOfDocument()
}

function readerOfDocument(): Reader {
  const { lang, dataset } = document.documentElement
  const theme = dataset["theme"]
  return {
    language: isLanguage(lang) ? lang : "en",
    theme: theme === "light" || theme === "dark" ? theme : "system",
  }
}
