import type { ReactNode } from "react"
import { href } from "react-router"
import { LinkButton } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { ThreadSheet } from "./thread-sheet.tsx"

export function ChatHeader({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <header className="flex h-14 shrink-0 items-center gap-2 border-b border-line px-4 lg:px-5">
      <ThreadSheet />
      <h1 className="min-w-0 flex-1 truncate text-sm font-semibold">{title}</h1>
      {children}
      <LinkButton
        to={href("/dashboard/chat")}
        variant="ghost"
        size="icon"
        aria-label="New conversation"
        title="New conversation"
        className="xl:hidden"
      >
        <Icon name="plus" />
      </LinkButton>
    </header>
  )
}
