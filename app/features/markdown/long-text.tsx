import { Trans } from "@lingui/react/macro"
import { useState } from "react"
import { useFormats } from "#app/language/formats.ts"
import { Button } from "#app/ui/button.tsx"
import { classOfText } from "./long-run.ts"

/** Characters shown initially. A line of a million blocks the page. */
const STEP = 30_000

/** A text as it was written, revealed in steps. */
export function LongText({ text }: { text: string }) {
  const [end, setEnd] = useState(STEP)
  const formats = useFormats()
  const left = text.length - end
  const characters = formats.number(left)
  return (
    <div data-unformatted className="space-y-3">
      <p className={classOfText(text, "[overflow-wrap:anywhere] whitespace-pre-wrap")}>
        {text.slice(0, end)}
      </p>
      {left > 0 ? (
        <Button variant="secondary" size="sm" onClick={() => setEnd(end + STEP)}>
          <Trans>Show more ({characters} more characters)</Trans>
        </Button>
      ) : null}
    </div>
  )
}
