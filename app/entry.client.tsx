import { startTransition, StrictMode } from "react"
import { hydrateRoot } from "react-dom/client"
import { HydratedRouter } from "react-router/dom"
import { retryFetches } from "./features/navigation/retry-fetches.ts"
import { addMessages } from "./language/i18n.ts"
import { addSentences } from "./language/sentences.ts"

// The words of the page's language are there before React compares its own with them. English is in
// the source.
if (document.documentElement.lang === "de") {
  const [{ catalogues }, { serverSentences }] = await Promise.all([
    import("./language/de/hydrated.ts"),
    import("./features/server/sentences.ts"),
  ])
  addMessages("de", ...catalogues)
  addSentences(serverSentences)
}

retryFetches()

startTransition(() => {
  hydrateRoot(
    document,
    <StrictMode>
      <HydratedRouter />
    </StrictMode>,
  )
})

// Loading a page, or drawing its transition, that another navigation overtakes ends in a rejection
// that React Router and the browser leave to nobody. It is no error: the page is where it was meant
// to be.
window.addEventListener("unhandledrejection", (event) => {
  if (event.reason instanceof DOMException && event.reason.name === "AbortError") event.preventDefault()
})
