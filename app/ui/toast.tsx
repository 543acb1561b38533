import { useLingui } from "@lingui/react/macro"
import { Toast } from "@base-ui/react/toast"
import type { ReactNode } from "react"
import { classNames } from "./class-names.ts"
import { Icon } from "./icon.tsx"

interface ToastWords {
  title: string
  description?: string
  tone?: "danger"
  /** Offers to take the act back; the toast then stays longer. */
  undo?: () => void
}

/** Stands once around what may speak in toasts. */
export function ToastProvider({ children }: { children: ReactNode }) {
  return (
    <Toast.Provider limit={4}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-[calc(1rem+env(safe-area-inset-bottom)+var(--toast-inset,0px))] z-60 mx-auto flex w-[calc(100vw-2rem)] flex-col-reverse gap-2 sm:right-6 sm:bottom-[calc(1.5rem+var(--toast-inset,0px))] sm:w-96">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

/** Returns the function that shows a toast; it gives back the toast's id for `close`. */
export function useToast() {
  const { t } = useLingui()
  const { add, close } = Toast.useToastManager()
  const show = ({ title, description, tone, undo }: ToastWords) => {
    const id: string = add({
      title,
      description,
      type: tone,
      priority: tone === "danger" ? "high" : "low",
      timeout: undo || tone === "danger" ? 10_000 : 5_000,
      ...(undo && { actionProps: { children: t`Undo`, onClick: () => (undo(), close(id)) } }),
    })
    return id
  }
  return { show, close }
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
