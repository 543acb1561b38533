import { useEffect, useLayoutEffect, useRef } from "react"
import { classNames } from "#app/ui/class-names.ts"
import { splitAt } from "./marked-text.tsx"
import type { Mentioning } from "./use-mentioning.ts"

/**
 * Marks the mentions behind the transparent field in which they are typed, whose padding and text
 * `className` repeats.
 */
export function MentionMarks({
  mentioning: { text, marks, area },
  className,
}: {
  mentioning: Mentioning
  className: string
}) {
  const copy = useRef<HTMLDivElement>(null)

  useLayoutEffect(() => follow(area.current, copy.current))
  useEffect(() => {
    const field = area.current
    const moved = () => follow(field, copy.current)
    const resized = new ResizeObserver(moved)
    if (field) resized.observe(field)
    field?.addEventListener("scroll", moved, { passive: true })
    return () => {
      resized.disconnect()
      field?.removeEventListener("scroll", moved)
    }
  }, [area])

  return (
    <div aria-hidden className="pointer-events-none absolute inset-0 overflow-hidden">
      <div ref={copy} className={classNames("break-words whitespace-pre-wrap text-transparent", className)}>
        {splitAt(text, marks).map(({ from, part, isMention }) =>
          isMention ? (
            <mark key={from} className="rounded-sm bg-accent-line text-transparent">
              {part}
            </mark>
          ) : (
            part
          ),
        )}
      </div>
    </div>
  )
}

/** Without the width of a scrollbar, the lines would break elsewhere. */
function follow(field: HTMLTextAreaElement | null, copy: HTMLDivElement | null) {
  if (!field || !copy) return
  copy.style.width = `${field.clientWidth}px`
  copy.style.transform = `translateY(${-field.scrollTop}px)`
}
