import { useRouteLoaderData } from "react-router"
import type { loadThreads } from "./load-threads.ts"

/** The loader data of the chat's layout. */
export function useChatLayout() {
  const personal = useRouteLoaderData<typeof loadThreads>("routes/dashboard/chat/layout")
  const shared = useRouteLoaderData<typeof loadThreads>("routes/dashboard/spaces/chat/layout")
  const data = personal ?? shared
  if (!data) throw new Error("This stands outside the chat's layout.")
  return data
}
