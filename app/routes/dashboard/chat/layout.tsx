import { Outlet, useNavigate } from "react-router"
import { requireScope } from "#server/http/scope.ts"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { PendingMessagesProvider } from "./composer/pending-messages.tsx"
import { loadThreads } from "./threads/load-threads.ts"
import { ReadsProvider } from "./threads/reads.tsx"
import { ThreadList } from "./threads/thread-list.tsx"
import { useKeyboardSpace } from "./conversation/use-keyboard-space.ts"
import { useNewShortcut } from "./conversation/use-shortcuts.ts"
import type { Route } from "./+types/layout.ts"

export async function loader({ context, params }: Route.LoaderArgs) {
  return loadThreads(await requireScope(context), params)
}

/**
 * The list of conversations beside the open one; on a narrow screen, a button of the page opens the
 * list.
 */
export default function ChatLayout({ loaderData }: Route.ComponentProps) {
  const navigate = useNavigate()
  const column = useKeyboardSpace()
  const { addresses } = usePlace()
  useNewShortcut(() => void navigate(addresses.chat))
  return (
    <PendingMessagesProvider>
      <ReadsProvider reads={loaderData.reads}>
        <div ref={column} className="flex h-[var(--available-height,calc(100dvh-var(--frame)))] min-h-0">
          <div className="hidden w-68 shrink-0 flex-col border-r border-line xl:flex">
            <ThreadList list={loaderData} />
          </div>
          <div className="flex min-w-0 flex-1 flex-col">
            <Outlet />
          </div>
        </div>
      </ReadsProvider>
    </PendingMessagesProvider>
  )
}
