import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import type { ReactNode } from "react"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { useSentences } from "#app/language/sentences.ts"
import { Button } from "#app/ui/button.tsx"
import { classNames } from "#app/ui/class-names.ts"
import { Icon } from "#app/ui/icon.tsx"
import { readFailure } from "#server/chat/failure-contract.ts"
import { plainText, type Bubble } from "./bubbles.ts"

interface ReplyNoticeProps {
  bubble: Bubble
  onRetry: () => void
  onContinue: () => void
}

/** Why the last reply ended early, if it did, and what can be done about it. */
export function ReplyNotice({ bubble, onRetry, onContinue }: ReplyNoticeProps) {
  const { t } = useLingui()
  const say = useSentences()
  const { spaceId } = usePlace()
  switch (bubble.status) {
    case "failed":
      return (
        <Notice
          tone="danger"
          words={bubble.failure ? say(readFailure(bubble.failure)) : t`The model couldn't reply.`}
        >
          <Retry onRetry={onRetry} />
        </Notice>
      )
    case "interrupted":
      return (
        <Notice words={t`The server was interrupted while replying. The text so far is saved.`}>
          <Retry onRetry={onRetry} />
        </Notice>
      )
    case "timeout":
      return (
        <Notice words={t`Stopped at the time limit.`}>
          <Continue onContinue={onContinue} />
        </Notice>
      )
    case "stopped":
      return (
        <Notice words={spaceId === undefined ? t`You stopped this reply.` : t`This reply was stopped.`}>
          <Retry onRetry={onRetry} />
        </Notice>
      )
    case "completed":
      return <ShortfallNotice bubble={bubble} onRetry={onRetry} onContinue={onContinue} />
    case "running":
    case null:
      return null
    default:
      return bubble.status satisfies never
  }
}

const SHORTFALLS = {
  empty: msg`The model returned an empty reply.`,
  withheld: msg`The model, or a content filter, withheld this reply.`,
  filtered: msg`The model, or a content filter, ended this reply here.`,
  "used-up": msg`The model reached the length limit before it began to reply.`,
  length: msg`This reply reached the length limit.`,
  steps: msg`The model reached the limit of tool calls for one reply.`,
}

function ShortfallNotice({ bubble, onRetry, onContinue }: ReplyNoticeProps) {
  const { t } = useLingui()
  const { shortfall, parts } = bubble
  if (!shortfall) return null
  // A reply without text cannot be continued.
  const canContinue = shortfall === "length" || (shortfall === "steps" && plainText(parts).trim() !== "")
  return (
    <Notice words={t(SHORTFALLS[shortfall])}>
      {canContinue ? <Continue onContinue={onContinue} /> : <Retry onRetry={onRetry} />}
    </Notice>
  )
}

function Continue({ onContinue }: { onContinue: () => void }) {
  if (!usePlace().mayEdit) return null
  return (
    <Button variant="secondary" size="sm" onClick={onContinue}>
      <Trans context="go on">Continue</Trans>
    </Button>
  )
}

function Retry({ onRetry }: { onRetry: () => void }) {
  if (!usePlace().mayEdit) return null
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
