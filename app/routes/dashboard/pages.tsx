import { Outlet } from "react-router"
import { PageFailure } from "./page-failure.tsx"
import type { Route } from "./+types/pages.ts"

/** Wraps every page in the shell, so that a failing page does not take the shell with it. */
export default function Pages() {
  return <Outlet />
}

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  return <PageFailure error={error} />
}
