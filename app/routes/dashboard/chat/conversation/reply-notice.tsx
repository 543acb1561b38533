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
  const { status, shortfall, failure, parts } = bubble
  const ending = shortfall ?? status
  if (ending === null || ending === "running" || ending === "completed") return null
  const isFailure = ending === "failed"
  const isOwnStop = ending === "stopped" && spaceId === undefined
  const words = isFailure && failure ? say(readFailure(failure)) : t(isOwnStop ? OWN_STOP : ENDINGS[ending])
  // A reply without text cannot be continued.
  const canContinue =
    ending === "timeout" || ending === "length" || (ending === "steps" && plainText(parts).trim() !== "")
  return (
    <Notice tone={isFailure ? "danger" : undefined} words={words}>
      {canContinue ? <Continue onContinue={onContinue} /> : <Retry onRetry={onRetry} />}
    </Notice>
  )
}

const OWN_STOP = msg`You stopped this reply.`

const ENDINGS = {
  failed: msg`The model couldn't reply.`,
  interrupted: msg`The server was interrupted while replying. The text so far is saved.`,
  timeout: msg`Stopped at the time limit.`,
  stopped: msg`This reply was stopped.`,
  empty: msg`The model returned an empty reply.`,
  withheld: msg`The model, or a content filter, withheld this reply.`,
  filtered: msg`The model, or a content filter, ended this reply here.`,
  "used-up": msg`The model reached the length limit before it began to reply.`,
  length: msg`This reply reached the length limit.`,
  steps: msg`The model reached the limit of tool calls for one reply.`,
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

interface NoticeProps {
  tone: "danger" | undefined
  words: string
  children: ReactNode
}

function Notice({ tone, words, children }: NoticeProps) {
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
