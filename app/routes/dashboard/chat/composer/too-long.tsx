import { Trans } from "@lingui/react/macro"
import { useFormats } from "#app/language/formats.ts"
import { Button } from "#app/ui/button.tsx"
import { MESSAGE_LIMIT } from "#server/chat/contract.ts"

/** Says that a message is too long to be sent, and offers to attach its text. */
export function TooLong({ length, onAttach }: { length: number; onAttach: () => void }) {
  const formats = useFormats()
  const written = formats.number(length)
  const most = formats.number(MESSAGE_LIMIT)
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 pt-1.5 text-xs text-warning-ink"
    >
      <p>
        <Trans>
          Your message has {written} characters, and it can have {most}.
        </Trans>
      </p>
      <Button variant="secondary" size="sm" onClick={onAttach}>
        <Trans>Attach it as a file</Trans>
      </Button>
    </div>
  )
}
