import { useLingui } from "@lingui/react/macro"
import { useState } from "react"
import { LinkButton } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import type { ThreadSummary } from "#server/chat/contract.ts"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { RenameForm } from "./rename-form.tsx"
import { ThreadMenu } from "./thread-menu.tsx"
import { ThreadSheet } from "./thread-sheet.tsx"

/** The title of the page, and the actions for its conversation. */
export function ChatHeader({ title, thread }: { title: string; thread?: ThreadSummary }) {
  const { t } = useLingui()
  const { addresses, mayEdit } = usePlace()
  const [isRenaming, setRenaming] = useState(false)
  return (
    <header className="flex h-14 shrink-0 items-center gap-2 border-b border-line px-4 lg:px-5">
      <ThreadSheet />
      <h1 dir="auto" className={isRenaming ? "sr-only" : "min-w-0 flex-1 truncate text-sm font-semibold"}>
        {title}
      </h1>
      {thread && isRenaming ? (
        <RenameForm thread={thread} onClose={() => setRenaming(false)} className="min-w-0 flex-1" />
      ) : null}
      {thread ? <ThreadMenu thread={thread} onRename={() => setRenaming(true)} /> : null}
      {mayEdit ? (
        <LinkButton
          to={addresses.chat}
          variant="ghost"
          size="icon"
          aria-label={t`New conversation`}
          title={t`New conversation`}
          className="xl:hidden"
        >
          <Icon name="plus" />
        </LinkButton>
      ) : null}
    </header>
  )
}
