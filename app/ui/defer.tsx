import { useEffect, useSyncExternalStore, type ComponentType, type JSX } from "react"
import { later } from "./later.ts"

/**
 * Defers loading the code of components that a page needs only once something opens. They render
 * nothing until it is loaded.
 *
 *     const part = defer(() => import("./dialog-parts.tsx"))
 *     export const Dialog = part((dialog) => dialog.Dialog)
 */
export function defer<Parts extends object>(load: () => Promise<Parts>) {
  const code = later(load)

  return function part<Props extends object>(select: (parts: Parts) => ComponentType<Props>) {
    return function Deferred(props: Props & JSX.IntrinsicAttributes) {
      const parts = useSyncExternalStore(code.subscribe, code.current, () => null)
      useEffect(() => code.fetch(), [])
      if (parts === null) return null
      const Part = select(parts)
      return <Part {...props} />
    }
  }
}
