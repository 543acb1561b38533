import { Outlet } from "react-router"
import { PageFailure } from "./page-failure.tsx"
import type { Route } from "./+types/pages.ts"

/** Around every page in the shell, so that one that fails does not take the shell with it. */
export default function Pages() {
  return <Outlet />
}

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  return <PageFailure error={error} />
}
