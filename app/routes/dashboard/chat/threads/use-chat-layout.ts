import { useRouteLoaderData } from "react-router"
import type { loader } from "#app/routes/dashboard/chat/layout.tsx"

/** The loader data of the chat's layout. */
export function useChatLayout() {
  const data = useRouteLoaderData<typeof loader>("routes/dashboard/chat/layout")
  if (!data) throw new Error("This stands outside the chat's layout.")
  return data
}
