import { useEffect, useRef } from "react"
import { useRevalidator } from "react-router"
import { useLive } from "#live/react"
import type { Loaded } from "#live/contract"
import type { Revision } from "./use-file-pages.ts"

/** Milliseconds after a change: an upload of many files changes the revision many times. */
const SETTLED_AFTER = 1000

/** Loads the page again when the files of its space have changed: what they take is no row of a table. */
export function ReloadWith({ revised }: { revised: Loaded<Revision> }) {
  const revision = useLive(revised)[0]?.revision
  const { revalidate } = useRevalidator()
  const shown = useRef(revision)
  useEffect(() => {
    if (shown.current === revision) return
    const timer = setTimeout(() => {
      shown.current = revision
      void revalidate()
    }, SETTLED_AFTER)
    return () => clearTimeout(timer)
  }, [revision, revalidate])
  return null
}
