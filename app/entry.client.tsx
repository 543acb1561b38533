import { startTransition, StrictMode } from "react"
import { hydrateRoot } from "react-dom/client"
import { HydratedRouter } from "react-router/dom"
import { retryFetches } from "./features/navigation/retry-fetches.ts"
import { addMessages } from "./language/i18n.ts"

// The translations must be loaded before hydration compares the texts. English is in the source.
if (document.documentElement.lang === "de") {
  const { catalogues } = await import("./language/de/hydrated.ts")
  addMessages("de", ...catalogues)
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

// When another navigation overtakes a page's loading or its view transition, a promise rejects that
// neither React Router nor the browser handles. It is not an error: the newer navigation completes.
window.addEventListener("unhandledrejection", (event) => {
  if (event.reason instanceof DOMException && event.reason.name === "AbortError") event.preventDefault()
})
