import { SiteError } from "#app/features/site/site-error.tsx"
import type { Route } from "./+types/not-found.ts"

export { action, default, loader } from "#app/routes/dashboard/not-found.tsx"

/** The not-found page needs no JavaScript. */
export const handle = { static: true }

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  return <SiteError error={error} />
}
