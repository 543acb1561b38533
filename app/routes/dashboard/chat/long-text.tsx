import { useState } from "react"
import { Button } from "#app/ui/button.tsx"

/** Characters that are shown at once. A line of a million holds a page up. */
const STEP = 30_000

const counts = new Intl.NumberFormat("en-GB")

/** A text as it was written, a piece at a time. */
export function LongText({ text }: { text: string }) {
  const [end, setEnd] = useState(STEP)
  const left = text.length - end
  return (
    <div className="space-y-3">
      <p className="[overflow-wrap:anywhere] whitespace-pre-wrap">{text.slice(0, end)}</p>
      {left > 0 ? (
        <Button variant="secondary" size="sm" onClick={() => setEnd(end + STEP)}>
          Show more ({counts.format(left)} characters are left)
        </Button>
      ) : null}
    </div>
  )
}
