import { CopyButton } from "./copy-button.tsx"

export function CodeBlock({ code, language }: { code: string; language: string }) {
  return (
    <div className="overflow-hidden rounded-lg border border-line bg-sunken">
      <div className="flex h-9 items-center justify-between border-b border-line pr-1 pl-3.5 text-xs text-faint">
        <span className="font-mono">{language || "text"}</span>
        <CopyButton text={code} label="Copy the code" className="size-7" />
      </div>
      <pre className="overflow-x-auto p-3.5 font-mono text-[0.8125rem] leading-6" tabIndex={0}>
        <code>{code}</code>
      </pre>
    </div>
  )
}
