import { useRouteLoaderData } from "react-router"
import type { loader } from "#app/routes/dashboard/chat/layout.tsx"

/** What the layout around each page of the chat has loaded. */
export function useChatLayout() {
  const data = useRouteLoaderData<typeof loader>("routes/dashboard/chat/layout")
  if (!data) throw new Error("This stands outside the chat's layout.")
  return data
}
