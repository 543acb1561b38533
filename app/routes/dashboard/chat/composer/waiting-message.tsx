import { Trans } from "@lingui/react/macro"
import { Button } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import type { Draft } from "./drafts.ts"
import { usePendingMessages } from "./pending-messages.tsx"

/** A message that is sent when the reply in progress has ended. */
export function WaitingMessage({ threadId, waiting }: { threadId: string; waiting: Draft }) {
  const questions = usePendingMessages()
  return (
    <div
      role="status"
      className="mx-auto mb-3 flex w-full max-w-3xl items-center gap-3 rounded-lg border border-line bg-sunken py-2 pr-2 pl-4 text-sm"
    >
      <Icon name="clock" className="shrink-0 text-faint" />
      <div className="min-w-0 flex-1">
        <p className="text-muted">
          <Trans>Waiting: it's sent when the reply has ended.</Trans>
        </p>
        <p className="truncate">{waiting.text}</p>
      </div>
      <Button variant="ghost" size="sm" onClick={() => questions.takeBack(threadId)}>
        <Trans>Take back</Trans>
      </Button>
    </div>
  )
}
