import { useEffect, useSyncExternalStore, type ComponentType, type JSX } from "react"
import { whenWanted } from "./when-wanted.ts"

type PropsOf<Part> = Part extends (props: infer Props) => unknown ? Props & JSX.IntrinsicAttributes : never

/**
 * Components whose code a page can do without until something opens. It comes at the first sign of a person, or while they read: it delays
 * no page, and is there before it is needed, and when the connection no longer is. Until then they are nothing.
 *
 *     const part = defer(() => import("./dialog-parts.tsx"))
 *     export const Dialog = part("Dialog")
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
    coming ??= load().then(
      (loaded) => {
        parts = loaded
        for (const listener of listeners) listener()
      },
      // Whoever opens it again asks again.
      () => void (coming = null),
    )
  }

  if (typeof document !== "undefined") whenWanted(fetchParts)

  return function part<Name extends keyof Parts>(name: Name) {
    return function Deferred(props: PropsOf<Parts[Name]>) {
      const loaded = useSyncExternalStore(
        subscribe,
        () => parts,
        () => null,
      )
      useEffect(fetchParts, [])
      if (loaded === null) return null
      const Part = loaded[name] as ComponentType<PropsOf<Parts[Name]>>
      return <Part {...props} />
    }
  }
}
