import type { ReactNode } from "react"

const TOKENS =
  /(\/\/.*|#\s.*)|("[^"]*"|'[^']*'|`[^`]*`)|(?<!\.)\b(export|async|function|const|await|return|throw|new|if|import|from|update|set|where)\b|([\s\S])/g

const colours = ["text-faint", "text-success-ink", "text-accent-ink"]

/** A few lines of TypeScript or shell, with comments, strings and keywords highlighted. */
export function Code({ source }: { source: string }) {
  const parts = coloured.get(source) ?? colour(source)
  coloured.set(source, parts)
  return <code>{parts}</code>
}

/**
 * By source; bounded, because our pages show a fixed set. Highlighting each time took an eighth of
 * the home page's rendering.
 */
const coloured = new Map<string, ReactNode>()

function colour(source: string): ReactNode {
  const parts: { text: string; className: string | undefined; at: number }[] = []
  for (const { 0: text, index, ...groups } of source.matchAll(TOKENS)) {
    const className = colours.find((_, kind) => groups[kind + 1] !== undefined)
    const last = parts.at(-1)
    if (last && last.className === className) last.text += text
    else parts.push({ text, className, at: index })
  }
  return parts.map(({ text, className, at }) => (
    <span key={at} className={className}>
      {text}
    </span>
  ))
}
