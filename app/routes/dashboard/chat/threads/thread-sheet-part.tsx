import { Dialog } from "@base-ui/react/dialog"
import { Trans } from "@lingui/react/macro"
import { ThreadList } from "./thread-list.tsx"
import { useChatLayout } from "./use-chat-layout.ts"

export function Sheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  const list = useChatLayout()
  return (
    <Dialog.Root open={open} onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-backdrop transition-opacity duration-200 data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <Dialog.Popup className="fixed inset-y-0 left-0 z-50 flex w-[min(20rem,85vw)] flex-col border-r border-line bg-canvas pt-[env(safe-area-inset-top)] pb-[env(safe-area-inset-bottom)] text-ink shadow-lg outline-hidden transition-transform duration-200 ease-out data-ending-style:-translate-x-full data-starting-style:-translate-x-full">
          <Dialog.Title className="sr-only">
            <Trans>Conversations</Trans>
          </Dialog.Title>
          <ThreadList list={list} onLeave={onClose} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
