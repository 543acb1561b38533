import { useContext, useEffect, useMemo, useState, useSyncExternalStore } from "react"
import { later } from "#app/ui/later.ts"
import type { Block } from "./tokens.ts"
import { ReadingsContext } from "./readings.ts"

const code = later(() => import("./blocks.ts"))

/**
 * The blocks of a text, as the page brought them or as parsed here. Null: it is shown as it was
 * written.
 */
export function useReading(text: string, { isGrowing }: { isGrowing: boolean }): readonly Block[] | null {
  const readings = useContext(ReadingsContext)
  const [brought] = useState({ text, isGrowing, blocks: readings.get(text) })
  const isSame = brought.blocks !== undefined && brought.text === text && brought.isGrowing === isGrowing
  const reading = useSyncExternalStore(
    code.subscribe,
    () => (isSame ? null : code.current()),
    () => null,
  )
  const hasFailed = useSyncExternalStore(code.subscribe, code.hasFailed, () => false)
  const reader = useMemo(() => reading?.createBlockReader(), [reading])
  // On every render, so that a failed import is retried when more text arrives.
  useEffect(() => {
    if (!isSame) code.fetch()
  })
  // What the page brought stays until the code is there, rather than showing its source for a moment.
  if (isSame || (!reader && !hasFailed)) return brought.blocks ?? null
  if (!reader) return null
  return reader.read(text, { isGrowing })
}
