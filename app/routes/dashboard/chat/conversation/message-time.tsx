import { useState } from "react"
import { useFormats } from "#app/language/formats.ts"
import { useHydrated } from "#app/ui/use-hydrated.ts"

const TIME = { hour: "numeric", minute: "2-digit" } as const
const DATE = { day: "numeric", month: "short", ...TIME } as const
const WHOLE = { dateStyle: "full", timeStyle: "medium" } as const

/** When a message was written. Only the browser knows the reader's time zone. */
export function MessageTime({ at }: { at: number | null }) {
  const formats = useFormats()
  const isHydrated = useHydrated()
  const [today] = useState(() => new Date().toDateString())
  if (!isHydrated || at === null) return null
  const moment = new Date(at)
  const isToday = moment.toDateString() === today
  return (
    <time dateTime={moment.toISOString()} title={formats.date(at, WHOLE)} className="px-1 tabular-nums">
      {formats.date(at, isToday ? TIME : DATE)}
    </time>
  )
}
