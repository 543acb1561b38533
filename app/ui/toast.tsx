import { createContext, useContext, useEffect, useState, type ReactNode } from "react"
import { defer } from "./defer.tsx"
import { ToastQueue } from "./toast-queue.ts"
import { whenWanted } from "./when-wanted.ts"

const Toaster = defer(() => import("./toast-parts.tsx"))((parts) => parts.Toaster)
const ToastContext = createContext<ToastQueue | null>(null)

/** Wraps everything that may show toasts; render it once. */
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

/** `show` shows a toast and returns its id for `close`. */
export function useToast(): ToastQueue {
  const queue = useContext(ToastContext)
  if (!queue) throw new Error("There is no ToastProvider around this.")
  return queue
}
