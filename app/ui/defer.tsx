import { useEffect, useSyncExternalStore, type ComponentType, type JSX } from "react"
import { importAgain } from "./import-again.ts"
import { whenWanted } from "./when-wanted.ts"

/**
 * Components whose code a page can do without until something opens. It comes at the first sign of a person, or while they read: it delays
 * no page, and is there before it is needed, and when the connection no longer is. Until then they are nothing.
 *
 *     const part = defer(() => import("./dialog-parts.tsx"))
 *     export const Dialog = part((dialog) => dialog.Dialog)
 */
export function defer<Parts extends object>(load: () => Promise<Parts>) {
  let parts: Parts | null = null
  let coming: Promise<void> | null = null
  const listeners = new Set<() => void>()

  function subscribe(listener: () => void) {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }

  function fetchParts() {
    coming ??= importAgain(load).then(
      (loaded) => {
        parts = loaded
        for (const listener of listeners) listener()
      },
      // Whoever opens it again asks again.
      () => void (coming = null),
    )
  }

  if (typeof document !== "undefined") whenWanted(fetchParts)

  return function part<Props extends object>(select: (parts: Parts) => ComponentType<Props>) {
    return function Deferred(props: Props & JSX.IntrinsicAttributes) {
      const loaded = useSyncExternalStore(
        subscribe,
        () => parts,
        () => null,
      )
      useEffect(fetchParts, [])
      if (loaded === null) return null
      const Part = select(loaded)
      return <Part {...props} />
    }
  }
}
