import type { ReactNode } from "react"
import { classNames } from "#app/ui/class-names.ts"
import { CopyButton } from "./copy-button.tsx"

/** Shell commands, one per line. The button copies them without the prompt. */
export function CommandBlock({
  commands,
  output,
  className,
}: {
  commands: string[]
  /** The output of the last command. */
  output?: ReactNode
  className?: string | undefined
}) {
  return (
    <div
      data-copyable=""
      className={classNames(
        "relative overflow-hidden rounded-lg border border-line bg-surface text-left shadow-sm",
        className,
      )}
    >
      <pre className="overflow-x-auto py-4 pr-14 pl-5 font-mono text-sm leading-7" tabIndex={0}>
        <code>
          {commands.map((command) => (
            <span key={command} className="block before:text-faint before:select-none before:content-['$_']">
              {`${command}\n`}
            </span>
          ))}
        </code>
        {output ? <span className="block text-faint">{output}</span> : null}
      </pre>
      <CopyButton className="absolute top-2.5 right-2.5" />
    </div>
  )
}
