import { useEffect, useSyncExternalStore, type ComponentType, type JSX } from "react"
import { later } from "./later.ts"
import { whenWanted } from "./when-wanted.ts"

/**
 * Defers loading the code of components that a page needs only once something opens. They render
 * nothing until it is loaded.
 *
 *     const part = defer(() => import("./dialog-parts.tsx"))
 *     export const Dialog = part((dialog) => dialog.Dialog)
 *
 * `when` can be `whenRendered`, for what not every page has.
 */
export function defer<Parts extends object>(load: () => Promise<Parts>, when = whenWanted) {
  const code = later(load, when)

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

/** Loads the code no earlier than its component renders. */
export function whenRendered() {}
