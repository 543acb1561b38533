import { Icon } from "#app/ui/icon.tsx"
import { Spinner } from "#app/ui/spinner.tsx"
import type { AnswerPart } from "#server/chat/contract.ts"

const NAMES: Record<string, string> = {
  currentTime: "Looked at the clock",
  searchFiles: "Searched your files",
}

/** A tool the model used, in one line that unfolds to what it was asked and what it said. */
export function ToolRow({ part, running }: { part: AnswerPart & { type: "tool" }; running: boolean }) {
  const waiting = running && part.output === undefined && part.error === undefined
  return (
    <details className="group/tool rounded-lg border border-line bg-surface text-sm">
      <summary className="flex min-h-9 items-center gap-2.5 rounded-lg px-3 text-muted hover:text-ink touch:min-h-11">
        {waiting ? (
          <Spinner />
        ) : (
          <Icon
            name={part.error ? "warning" : "check-circle"}
            className={part.error ? "text-danger-ink" : "text-success-ink"}
          />
        )}
        <span className="truncate">{NAMES[part.name] ?? `Used ${part.name}`}</span>
        {part.error ? <span className="truncate text-danger-ink">{part.error}</span> : null}
        <Icon name="chevron-right" className="ml-auto transition-transform group-open/tool:rotate-90" />
      </summary>
      <div className="space-y-3 border-t border-line p-3">
        <Data label="Asked" value={part.input ?? {}} />
        {part.output === undefined ? null : <Data label="Answered" value={part.output} />}
        {part.error ? <Data label="Failed" value={part.error} /> : null}
      </div>
    </details>
  )
}

function Data({ label, value }: { label: string; value: unknown }) {
  return (
    <div>
      <p className="mb-1 text-xs font-medium text-faint">{label}</p>
      <pre
        className="max-h-60 overflow-auto rounded-md bg-sunken p-2.5 font-mono text-xs leading-5"
        tabIndex={0}
      >
        {typeof value === "string" ? value : JSON.stringify(value, null, 2)}
      </pre>
    </div>
  )
}
