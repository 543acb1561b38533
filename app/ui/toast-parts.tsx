import { useLingui } from "@lingui/react/macro"
import { Toast } from "@base-ui/react/toast"
import { useEffect } from "react"
import { classNames } from "./class-names.ts"
import { Icon } from "./icon.tsx"
import type { ToastQueue } from "./toast-queue.ts"

/** Renders the toasts of the queue. */
export function Toaster({ queue }: { queue: ToastQueue }) {
  return (
    <Toast.Provider limit={4}>
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-[calc(1rem+env(safe-area-inset-bottom)+var(--toast-inset,0px)+var(--composer-inset,0px))] z-60 mx-auto flex w-[calc(100vw-2rem)] flex-col-reverse gap-2 sm:right-6 sm:bottom-[calc(1.5rem+var(--toast-inset,0px)+var(--composer-inset,0px))] sm:w-96">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
      <Showing queue={queue} />
    </Toast.Provider>
  )
}

function Showing({ queue }: { queue: ToastQueue }): null {
  const { t } = useLingui()
  const { add, close } = Toast.useToastManager()
  useEffect(
    () =>
      queue.showAt({
        show: (id, { title, description, tone, undo }) =>
          add({
            id,
            title,
            description,
            type: tone,
            priority: tone === "danger" ? "high" : "low",
            timeout: undo || tone === "danger" ? 10_000 : 5_000,
            ...(undo && { actionProps: { children: t`Undo`, onClick: () => (undo(), close(id)) } }),
          }),
        close,
      }),
    [queue, add, close, t],
  )
  return null
}

function ToastList() {
  const { t } = useLingui()
  const { toasts } = Toast.useToastManager()
  return toasts.map((toast) => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      swipeDirection={["right", "down"]}
      className={classNames(
        "translate-x-[var(--toast-swipe-movement-x)] translate-y-[var(--toast-swipe-movement-y)] rounded-lg border bg-raised text-ink shadow-lg",
        "transition-[opacity,translate] duration-200 ease-out data-ending-style:opacity-0 data-limited:hidden data-starting-style:translate-y-3 data-starting-style:opacity-0",
        toast.type === "danger" ? "border-danger-line" : "border-line",
      )}
    >
      <Toast.Content className="flex items-center gap-3 p-3 pl-4">
        <div className="min-w-0 flex-1 py-0.5 text-sm">
          <Toast.Title className={classNames("font-medium", toast.type === "danger" && "text-danger-ink")} />
          <Toast.Description className="text-muted" />
        </div>
        {toast.actionProps ? (
          <Toast.Action className="h-8 rounded-md border border-line-strong bg-surface px-3 text-sm font-medium hover:bg-hover touch:min-h-11" />
        ) : null}
        <Toast.Close
          aria-label={t`Dismiss`}
          className="grid size-8 place-items-center rounded-md text-faint hover:bg-hover hover:text-ink touch:min-h-11 touch:min-w-11"
        >
          <Icon name="x" />
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ))
}
