import { findMentions, type Mention } from "#server/notifications/mention-contract.ts"

/** A text in which the mentions of these names are marked. */
export function MarkedText({ text, names }: { text: string; names: readonly string[] }) {
  if (names.length === 0) return text
  return splitAt(text, findMentions(text, names)).map(({ from, part, isMention }) =>
    isMention ? (
      <mark key={from} className="rounded-sm bg-accent-line px-0.5 font-medium text-accent-ink">
        {part}
      </mark>
    ) : (
      part
    ),
  )
}

export function splitAt(text: string, mentions: readonly Mention[]) {
  const parts: { from: number; part: string; isMention: boolean }[] = []
  let end = 0
  for (const { from, to } of mentions) {
    parts.push({ from: end, part: text.slice(end, from), isMention: false })
    parts.push({ from, part: text.slice(from, to), isMention: true })
    end = to
  }
  return [...parts, { from: end, part: text.slice(end), isMention: false }]
}
