import { memo } from "react"
import { Icon } from "#app/ui/icon.tsx"
import type { AnswerPart } from "#server/chat/contract.ts"
import { CopyButton } from "./copy-button.tsx"
import { plainText, type Bubble } from "./exchange.ts"
import { inOrder } from "./in-order.tsx"
import { Markdown } from "./markdown.tsx"
import { ToolRow } from "./tool-row.tsx"

interface MessageProps {
  bubble: Bubble
  /** Below the last message stands more of how it ended, with what can be done. */
  isLast: boolean
}

/** Drawn again only when what it shows has changed, however often the list around it is. */
export const Message = memo(
  function Message({ bubble, isLast }: MessageProps) {
    return bubble.role === "user" ? <Question bubble={bubble} /> : <Answer bubble={bubble} isLast={isLast} />
  },
  (before, after) =>
    before.isLast === after.isLast &&
    before.bubble.status === after.bubble.status &&
    before.bubble.failure === after.bubble.failure &&
    sameParts(before.bubble.parts, after.bubble.parts),
)

function Question({ bubble }: { bubble: Bubble }) {
  return (
    <article className="flex justify-end" aria-label="You">
      <p className="max-w-[85%] rounded-xl rounded-br-sm bg-accent-soft px-4 py-2.5 break-words whitespace-pre-wrap [overflow-wrap:anywhere]">
        {plainText(bubble.parts)}
      </p>
    </article>
  )
}

function Answer({ bubble: { parts, status, model }, isLast }: MessageProps) {
  const running = status === "running"
  const text = plainText(parts)
  return (
    <article className="group/answer min-w-0" aria-label="Answer" aria-busy={running}>
      <div className="space-y-3">
        {inOrder(parts, (part) => (
          <Part part={part} running={running} />
        ))}
        {running && parts.at(-1)?.type !== "text" ? <Thinking /> : null}
        {isLast || !status ? null : <Ending status={status} />}
      </div>
      {text && !running ? (
        <div className="mt-1.5 -ml-2 flex items-center gap-1 text-xs text-faint opacity-0 transition-opacity group-focus-within/answer:opacity-100 group-hover/answer:opacity-100 touch:opacity-100">
          <CopyButton text={text} label="Copy the answer" className="size-8" />
          {model ? <span className="truncate">{model}</span> : null}
        </div>
      ) : null}
    </article>
  )
}

const ENDINGS = {
  running: null,
  completed: null,
  failed: "The model could not answer.",
  interrupted: "Interrupted.",
  timeout: "Stopped after 30 seconds.",
  stopped: "Stopped.",
}

function Ending({ status }: { status: keyof typeof ENDINGS }) {
  return ENDINGS[status] ? <p className="text-sm text-faint">{ENDINGS[status]}</p> : null
}

function Part({ part, running }: { part: AnswerPart; running: boolean }) {
  if (part.type === "tool") return <ToolRow part={part} running={running} />
  if (part.type === "text") return <Markdown text={part.text} />
  return (
    <details className="group/thought text-sm text-muted">
      <summary className="flex min-h-9 items-center gap-2 text-faint hover:text-ink touch:min-h-11">
        <Icon name="sparkle" />
        How it was thought through
        <Icon name="chevron-right" className="transition-transform group-open/thought:rotate-90" />
      </summary>
      <div className="border-l-2 border-line pl-4 whitespace-pre-wrap">{part.text}</div>
    </details>
  )
}

function Thinking() {
  return (
    <span className="inline-flex items-center gap-1 py-2 text-accent-ink" aria-hidden="true">
      <i className="size-1.5 animate-pulse rounded-full bg-current" />
      <i className="size-1.5 animate-pulse rounded-full bg-current [animation-delay:0.2s]" />
      <i className="size-1.5 animate-pulse rounded-full bg-current [animation-delay:0.4s]" />
    </span>
  )
}

function sameParts(before: AnswerPart[], after: AnswerPart[]) {
  return before.length === after.length && before.every((part, index) => samePart(part, after[index]))
}

function samePart(before: AnswerPart, after: AnswerPart | undefined) {
  if (before.type === "tool") {
    return (
      after?.type === "tool" &&
      (before.output === undefined) === (after.output === undefined) &&
      before.error === after.error &&
      (before.input === undefined) === (after.input === undefined)
    )
  }
  return after?.type === before.type && before.text === after.text
}
