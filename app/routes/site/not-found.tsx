export { action, default, loader } from "#app/routes/dashboard/not-found.tsx"
export { SiteError as ErrorBoundary } from "./site-error.tsx"

/** The not-found page needs no JavaScript. */
export const handle = { static: true }
