import { Dialog } from "@base-ui/react/dialog"
import { Trans, useLingui } from "@lingui/react/macro"
import { useState } from "react"
import { Icon } from "#app/ui/icon.tsx"
import { buttonClass } from "#app/ui/button.tsx"
import { ThreadList } from "./thread-list.tsx"
import { useChatLayout } from "./use-chat-layout.ts"

/** The list of conversations where there is no room beside the open one: it slides in from the left. */
export function ThreadSheet() {
  const { t } = useLingui()
  const list = useChatLayout()
  const [open, setOpen] = useState(false)
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <Dialog.Trigger
        aria-label={t`Conversations`}
        className={buttonClass({ variant: "ghost", size: "icon" }, "-ml-2 xl:hidden")}
      >
        <Icon name="menu" />
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-backdrop transition-opacity duration-200 data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <Dialog.Popup className="fixed inset-y-0 left-0 z-50 flex w-[min(20rem,85vw)] flex-col border-r border-line bg-canvas pt-[env(safe-area-inset-top)] pb-[env(safe-area-inset-bottom)] text-ink shadow-lg outline-hidden transition-transform duration-200 ease-out data-ending-style:-translate-x-full data-starting-style:-translate-x-full">
          <Dialog.Title className="sr-only">
            <Trans>Conversations</Trans>
          </Dialog.Title>
          <ThreadList list={list} onLeave={() => setOpen(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
