import { useLingui } from "@lingui/react/macro"
import { Dialog as Base } from "@base-ui/react/dialog"
import { useRef, type KeyboardEventHandler, type ReactNode } from "react"
import { Icon } from "./icon.tsx"

/** A full-screen dialog, for viewing one item. `actions` are beside the title. */
export function Stage({
  open,
  onClose,
  title,
  description,
  actions,
  onKeyDown,
  children,
}: {
  open: boolean
  onClose: () => void
  title: string
  description: ReactNode
  actions?: ReactNode
  onKeyDown?: KeyboardEventHandler
  children: ReactNode
}) {
  const { t } = useLingui()
  const popup = useRef<HTMLDivElement>(null)
  return (
    <Base.Root open={open} onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-backdrop transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <Base.Popup
          ref={popup}
          // The content has the keyboard focus, not the first of the buttons.
          initialFocus={popup}
          onKeyDown={onKeyDown}
          className="fixed inset-0 z-50 flex flex-col bg-canvas text-ink shadow-lg outline-hidden transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0 sm:inset-4 sm:overflow-hidden sm:rounded-xl sm:border sm:border-line lg:inset-8"
        >
          <div className="flex items-center gap-2 border-b border-line bg-surface py-2 pr-2 pl-4 sm:pl-5">
            <div className="min-w-0 flex-1">
              <Base.Title dir="auto" className="truncate font-medium">
                {title}
              </Base.Title>
              <Base.Description className="truncate text-sm text-faint">{description}</Base.Description>
            </div>
            {actions}
            <Base.Close
              aria-label={t`Close`}
              className="grid size-9 shrink-0 place-items-center rounded-md text-muted transition-colors hover:bg-hover hover:text-ink touch:size-11"
            >
              <Icon name="x" />
            </Base.Close>
          </div>
          <div className="relative flex min-h-0 flex-1 flex-col">{children}</div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
