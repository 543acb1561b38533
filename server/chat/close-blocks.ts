/** An open block, which would include the text after it. */
export interface OpenBlock {
  isEnd(line: string): boolean
  /** The line that ends it. */
  end: string
}

/**
 * Makes Markdown safe to put before other Markdown: an unclosed block of code or HTML is closed.
 * Blocks inside lists or quotations end with those and are left unchanged.
 */
export function closeBlocks(markdown: string): string {
  let open: OpenBlock | null = null
  let listIndent = 0
  let afterBlank = true
  for (const line of markdown.split(/\r\n|\r|\n/)) {
    if (open) {
      if (open.isEnd(line)) open = null
      continue
    }
    const isBlank = line.trim() === ""
    const indent = line.length - line.trimStart().length
    const begun = beginBlock(line)
    const listed = listOf(line)
    if (!isBlank && indent < listIndent && (afterBlank || begun || listed > 0)) listIndent = 0
    if (listIndent === 0 || indent < listIndent) {
      if (listed > 0) listIndent = listed
      else if (listIndent === 0) open = begun
    }
    afterBlank = isBlank
  }
  return open ? `${markdown}\n${open.end}` : markdown
}

/** The block of code or HTML that a line begins, if it does not end on the same line. */
export function beginBlock(line: string): OpenBlock | null {
  // Few lines can, and a reply may have hundreds of thousands.
  if (!/^ {0,3}[`~<]/.test(line)) return null
  const fence = /^ {0,3}(?:(`{3,})[^`]*|(~{3,}).*)$/.exec(line)
  if (fence) {
    const end = fence[1] ?? fence[2] ?? ""
    return { end, isEnd: (later) => /^ {0,3}(`+|~+)[ \t]*$/.exec(later)?.[1]?.startsWith(end) ?? false }
  }
  const html = HTML.find(({ begin }) => begin.test(line))
  if (!html || html.isEnd(line)) return null
  return html
}

/** How far the content of a list's item is indented; 0 where the line begins none. */
function listOf(line: string): number {
  if (!/^ {0,3}[-+*\d]/.test(line)) return 0
  if (/^ {0,3}([-*_])([ \t]*\1){2,}[ \t]*$/.test(line)) return 0
  const marker = /^( {0,3}(?:[-+*]|\d{1,9}[.)]))( {1,4}(?=\S)|(?=\s|$))/.exec(line)
  return marker ? (marker[1]?.length ?? 0) + (marker[2]?.length || 1) : 0
}

/** The kinds of HTML that do not end with a blank line. */
const HTML: (OpenBlock & { begin: RegExp })[] = [
  ...["script", "pre", "style", "textarea"].map((name) => ({
    begin: new RegExp(`^ {0,3}<${name}(?:[\\s>]|$)`, "i"),
    end: `</${name}>`,
    isEnd: (line: string) => /<\/(script|pre|style|textarea)>/i.test(line),
  })),
  { begin: /^ {0,3}<!--/, end: "-->", isEnd: (line) => line.includes("-->") },
  { begin: /^ {0,3}<\?/, end: "?>", isEnd: (line) => line.includes("?>") },
  { begin: /^ {0,3}<!\[CDATA\[/, end: "]]>", isEnd: (line) => line.includes("]]>") },
  { begin: /^ {0,3}<![a-z]/i, end: ">", isEnd: (line) => line.includes(">") },
]
