import type { MessageDescriptor } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { useSentences } from "#app/language/sentences.ts"
import { Icon } from "#app/ui/icon.tsx"
import { Spinner } from "#app/ui/spinner.tsx"
import { readFailure } from "#server/chat/failure-contract.ts"
import type { ReplyPart } from "#server/chat/contract.ts"

type ToolPart = ReplyPart & { type: "tool" }

/** The texts of each tool, while it is running and after it has finished. */
const WORDS: Record<string, [doing: MessageDescriptor, done: MessageDescriptor]> = {
  currentTime: [msg`Checking the time…`, msg`Checked the time`],
  searchFiles: [msg`Searching your files…`, msg`Searched your files`],
  readFile: [msg`Reading a file…`, msg`Read a file`],
  searchThreads: [msg`Searching your conversations…`, msg`Searched your conversations`],
}

/** A tool call in one line, which expands to its input and its output. */
export function ToolRow({ part, isRunning }: { part: ToolPart; isRunning: boolean }) {
  const { t } = useLingui()
  const isWaiting = isRunning && part.output === undefined && part.error === undefined
  const say = useSentences()
  const { name } = part
  const error = part.error && say(readFailure(part.error))
  const [doing, done] = WORDS[name] ?? [msg`Using ${name}…`, msg`Used ${name}`]
  return (
    <details className="group/tool rounded-lg border border-line bg-surface text-sm">
      <summary className="flex min-h-9 items-center gap-2.5 rounded-lg px-3 text-muted hover:text-ink touch:min-h-11">
        <State part={part} isWaiting={isWaiting} />
        <span className="shrink-0">{t(isWaiting ? doing : done)}</span>
        {error ? <span className="truncate text-danger-ink">{error}</span> : null}
        <Icon name="chevron-right" className="ml-auto transition-transform group-open/tool:rotate-90" />
      </summary>
      <div className="space-y-3 border-t border-line p-3">
        <Data label={t`Request to ${name}`} value={part.input ?? {}} />
        {part.output === undefined ? null : <Data label={t`Answered`} value={part.output} />}
        {error ? <Data label={t`Failed`} value={error} /> : null}
      </div>
    </details>
  )
}

function State({ part, isWaiting }: { part: ToolPart; isWaiting: boolean }) {
  if (isWaiting) return <Spinner />
  if (part.error) return <Icon name="warning" className="text-danger-ink" />
  // Stopping a reply leaves tool calls without an output.
  if (part.output === undefined) return <Icon name="stop" className="text-faint" />
  return <Icon name="check-circle" className="text-success-ink" />
}

/** Characters. A tool may have read a whole file. */
const LONGEST = 10_000

function Data({ label, value }: { label: string; value: unknown }) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2)
  return (
    <div>
      <p className="mb-1 text-xs font-medium text-faint">{label}</p>
      <pre
        className="max-h-60 overflow-auto rounded-md bg-sunken p-2.5 font-mono text-xs leading-5"
        tabIndex={0}
        role="group"
        aria-label={label}
      >
        {text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}
      </pre>
    </div>
  )
}
