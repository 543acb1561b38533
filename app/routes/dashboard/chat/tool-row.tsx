import { Icon } from "#app/ui/icon.tsx"
import { Spinner } from "#app/ui/spinner.tsx"
import type { AnswerPart } from "#server/chat/contract.ts"

type ToolPart = AnswerPart & { type: "tool" }

/** What each tool is doing, and what it did. */
const WORDS: Record<string, [doing: string, done: string]> = {
  currentTime: ["Looking at the clock", "Looked at the clock"],
  searchFiles: ["Searching your files", "Searched your files"],
  readFile: ["Reading a file", "Read a file"],
  searchThreads: ["Searching your conversations", "Searched your conversations"],
}

/** A tool the model used, in one line that unfolds to what it was asked and what it said. */
export function ToolRow({ part, isRunning }: { part: ToolPart; isRunning: boolean }) {
  const isWaiting = isRunning && part.output === undefined && part.error === undefined
  const [doing, done] = WORDS[part.name] ?? [`Using ${part.name}`, `Used ${part.name}`]
  return (
    <details className="group/tool rounded-lg border border-line bg-surface text-sm">
      <summary className="flex min-h-9 items-center gap-2.5 rounded-lg px-3 text-muted hover:text-ink touch:min-h-11">
        <State part={part} isWaiting={isWaiting} />
        <span className="shrink-0">{isWaiting ? `${doing}…` : done}</span>
        {part.error ? <span className="truncate text-danger-ink">{part.error}</span> : null}
        <Icon name="chevron-right" className="ml-auto transition-transform group-open/tool:rotate-90" />
      </summary>
      <div className="space-y-3 border-t border-line p-3">
        <Data label={`Asked of ${part.name}`} value={part.input ?? {}} />
        {part.output === undefined ? null : <Data label="Answered" value={part.output} />}
        {part.error ? <Data label="Failed" value={part.error} /> : null}
      </div>
    </details>
  )
}

function State({ part, isWaiting }: { part: ToolPart; isWaiting: boolean }) {
  if (isWaiting) return <Spinner />
  if (part.error) return <Icon name="warning" className="text-danger-ink" />
  // An answer that was stopped leaves a tool that never said anything.
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
