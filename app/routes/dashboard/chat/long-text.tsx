import { Trans } from "@lingui/react/macro"
import { useState } from "react"
import { useFormats } from "#app/language/formats.ts"
import { Button } from "#app/ui/button.tsx"
import { classNames } from "#app/ui/class-names.ts"

/** Characters that are shown at once. A line of a million holds a page up. */
const STEP = 30_000

/** Chromium looks for a better line end in such a run for seconds, unless it may break anywhere. */
const UNBREAKABLE = /\S{1000}/

/** A text as it was written, a piece at a time. */
export function LongText({ text }: { text: string }) {
  const [end, setEnd] = useState(STEP)
  const formats = useFormats()
  const shown = text.slice(0, end)
  const left = text.length - end
  const characters = formats.number(left)
  return (
    <div className="space-y-3">
      <p
        className={classNames(
          "whitespace-pre-wrap [text-wrap:wrap]",
          UNBREAKABLE.test(shown) ? "break-all" : "[overflow-wrap:anywhere]",
        )}
      >
        {shown}
      </p>
      {left > 0 ? (
        <Button variant="secondary" size="sm" onClick={() => setEnd(end + STEP)}>
          <Trans>Show more ({characters} characters are left)</Trans>
        </Button>
      ) : null}
    </div>
  )
}
