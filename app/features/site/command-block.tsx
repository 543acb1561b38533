import { CopyButton } from "./copy-button.tsx"

/** Shell commands, one per line. The button copies them without the prompt. */
export function CommandBlock({ commands }: { commands: string[] }) {
  return (
    <div
      data-copyable=""
      className="relative overflow-hidden rounded-lg border border-line bg-surface text-left shadow-sm"
    >
      <pre className="overflow-x-auto py-4 pr-14 pl-5 font-mono text-sm leading-7" tabIndex={0}>
        <code>
          {commands.map((command) => (
            <span key={command} className="block before:text-faint before:select-none before:content-['$_']">
              {`${command}\n`}
            </span>
          ))}
        </code>
      </pre>
      <CopyButton className="absolute top-2.5 right-2.5" />
    </div>
  )
}
