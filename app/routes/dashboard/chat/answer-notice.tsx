import { Trans, useLingui } from "@lingui/react/macro"
import type { ReactNode } from "react"
import { useSentences } from "#app/language/sentences.ts"
import { Button } from "#app/ui/button.tsx"
import { classNames } from "#app/ui/class-names.ts"
import { Icon } from "#app/ui/icon.tsx"
import type { Bubble } from "./bubbles.ts"

/** How the last answer ended, where it did not end well, and what can be done. */
export function AnswerNotice({
  bubble,
  onRetry,
  onContinue,
}: {
  bubble: Bubble
  onRetry: () => void
  onContinue: () => void
}) {
  const { t } = useLingui()
  const say = useSentences()
  switch (bubble.status) {
    case "failed":
      return (
        <Notice tone="danger" words={say(bubble.failure) ?? t`The model could not answer.`}>
          <Retry onRetry={onRetry} />
        </Notice>
      )
    case "interrupted":
      return (
        <Notice words={t`The server was interrupted while it answered. What it said so far is kept.`}>
          <Retry onRetry={onRetry} />
        </Notice>
      )
    case "timeout":
      return (
        <Notice words={t`Stopped after 30 seconds, the longest that an answer may take.`}>
          <Button variant="secondary" size="sm" onClick={onContinue}>
            <Trans context="go on">Continue</Trans>
          </Button>
        </Notice>
      )
    case "stopped":
      return (
        <Notice words={t`You stopped this answer.`}>
          <Retry onRetry={onRetry} />
        </Notice>
      )
    case "running":
    case "completed":
    case null:
      return null
    default:
      return bubble.status satisfies never
  }
}

function Retry({ onRetry }: { onRetry: () => void }) {
  return (
    <Button variant="secondary" size="sm" onClick={onRetry}>
      <Icon name="refresh" className="size-3.5" />
      <Trans>Try again</Trans>
    </Button>
  )
}

function Notice({ tone, words, children }: { tone?: "danger"; words: string; children: ReactNode }) {
  return (
    <div
      className={classNames(
        "flex flex-wrap items-center justify-between gap-3 rounded-lg border px-4 py-2.5 text-sm",
        tone === "danger"
          ? "border-danger-line bg-danger-soft text-danger-ink"
          : "border-line bg-sunken text-muted",
      )}
    >
      <p className="min-w-0 flex-1 basis-60">{words}</p>
      {children}
    </div>
  )
}
