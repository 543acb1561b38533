import { beginBlock, type OpenBlock } from "./close-blocks.ts"

/**
 * Makes footnote labels unique across messages in one document: call the returned function with
 * each message in turn. A label that an earlier message has defined becomes `label-2`, `label-3`
 * and so on. Code is left unchanged.
 */
export function createFootnoteSeparator(): (markdown: string) => string {
  const taken = new Set<string>()
  const next = new Map<string, number>()
  return (markdown) => {
    if (!markdown.includes("[^")) return markdown
    const labels = new Set(linesOf(markdown).flatMap(({ line, isCode }) => (isCode ? [] : definedIn(line))))
    const renamed = new Map(
      [...labels].filter((label) => taken.has(label)).map((label) => [label, freeLabel(label, labels)]),
    )
    for (const label of labels) taken.add(renamed.get(label) ?? label)
    if (renamed.size === 0) return markdown
    return linesOf(markdown)
      .map(({ line, isCode }) => (isCode ? line : rename(line, renamed)))
      .join("\n")
  }

  function freeLabel(label: string, besides: ReadonlySet<string>) {
    let number = next.get(label) ?? 2
    while (taken.has(`${label}-${number}`) || besides.has(`${label}-${number}`)) number++
    next.set(label, number + 1)
    return `${label}-${number}`
  }
}

function linesOf(markdown: string) {
  let open: OpenBlock | null = null
  return markdown.split(/\r\n|\r|\n/).map((line) => {
    const isCode = open !== null
    if (open?.isEnd(line)) open = null
    else open ??= beginBlock(line)
    return { line, isCode }
  })
}

function definedIn(line: string): string[] {
  const label = /^ {0,3}\[\^([^\]\s]{1,100})\]:/.exec(line)?.[1]
  return label === undefined ? [] : [label]
}

/** Code spans are matched so that they are skipped. */
function rename(line: string, renamed: ReadonlyMap<string, string>): string {
  return line.replace(/(`+)[^`].*?\1(?!`)|\[\^([^\]\s]{1,100})\]/g, (whole, _ticks, label?: string) => {
    const to = label === undefined ? undefined : renamed.get(label)
    return to === undefined ? whole : `[^${to}]`
  })
}
