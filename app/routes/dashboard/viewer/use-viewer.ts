import { useRouteLoaderData } from "react-router"
import type { loadViewer } from "./load-viewer.ts"

/** What `loadViewer` loaded, on any page of the dashboard group. */
export function useViewer() {
  const viewer = useRouteLoaderData<typeof loadViewer>("routes/dashboard/layout")
  if (!viewer) throw new Error("useViewer was called outside routes/dashboard/layout.tsx.")
  return viewer
}
