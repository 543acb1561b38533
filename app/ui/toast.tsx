import { createContext, useContext, useEffect, useState, type ReactNode } from "react"
import { defer } from "./defer.tsx"
import { ToastQueue } from "./toast-queue.ts"
import { whenWanted } from "./when-wanted.ts"

const Toaster = defer(() => import("./toast-parts.tsx"))((parts) => parts.Toaster)
const ToastContext = createContext<ToastQueue | null>(null)

/** Stands once around what may speak in toasts. */
export function ToastProvider({ children }: { children: ReactNode }) {
  const [queue] = useState(() => new ToastQueue())
  const [isWanted, setWanted] = useState(false)
  useEffect(() => {
    const want = () => setWanted(true)
    queue.whenWaiting(want)
    whenWanted(want)
  }, [queue])
  return (
    <ToastContext value={queue}>
      {children}
      {isWanted ? <Toaster queue={queue} /> : null}
    </ToastContext>
  )
}

/** Its `show` shows a toast and gives back the toast's id for `close`. */
export function useToast(): ToastQueue {
  const queue = useContext(ToastContext)
  if (!queue) throw new Error("There is no ToastProvider around this.")
  return queue
}
