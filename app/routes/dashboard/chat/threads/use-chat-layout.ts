import { useRouteLoaderData } from "react-router"
import type { loader } from "#app/routes/dashboard/chat/layout.tsx"

/** The loader data of the chat's layout. */
export function useChatLayout() {
  const personal = useRouteLoaderData<typeof loader>("routes/dashboard/chat/layout")
  const shared = useRouteLoaderData<typeof loader>("routes/dashboard/spaces/chat/layout")
  const data = personal ?? shared
  if (!data) throw new Error("This stands outside the chat's layout.")
  return data
}
