import { createContext, useContext } from "react"
import type { Theme } from "#app/ui/theme-toggle.tsx"
import { isLanguage, type Language } from "#server/language-contract.ts"

/** What a document's rendering depends on. */
export interface Reader {
  language: Language
  theme: Theme
}

/**
 * The server fills it for every page, because the error page of a request that a middleware refused
 * has no root loader data.
 */
export const ReaderContext = createContext<Reader | null>(null)

/** From the root loader, or else from the request or the document. */
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
