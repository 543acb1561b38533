/**
 * Completes a text that is still being written: closes or holds back the mark-up begun at its end,
 * so that it does not flicker as text arrives. `text` is the last block alone.
 */
export function repairEnd(text: string): string {
  const held = holdBack(holdBackFootnote(text))
  return closeEmphasis(finishLink(held))
}

/** Holds back `[^label]` at the beginning of a line, which may become a footnote. */
function holdBackFootnote(text: string): string {
  return text.replace(/(?:^|\n) {0,3}\[\^[^\]\s]*\]?$|\[\^[^\]\s]*$/, "")
}

/**
 * Holds back a table until its second line has arrived, and a line of marks alone, which may become
 * a list, a heading or a rule.
 */
function holdBack(text: string): string {
  if (/^ {0,3}\|[^\n]*(?:\n[ \t|:-]*)?$/.test(text)) return ""
  return text
    .replace(/(?:^|\n)[ \t]*(?:[-=*+#>_|~]+|\d{1,9}[.)]?|`{1,2})[ \t]*$/, "")
    .replace(/(?:[*_~`]+|!?\[|\\)$/, "")
}

/** `[text](https://exam` shows its text; half an image shows nothing. */
function finishLink(text: string): string {
  const image = /!\[[^\]\n]*\]?$/.exec(text)
  if (image) return text.slice(0, image.index)
  const open = text.lastIndexOf("](")
  if (open < 0 || text.indexOf(")", open) >= 0 || text.indexOf("\n", open) >= 0) return text
  const begin = text.lastIndexOf("[", open)
  if (begin < 0) return text
  return text[begin - 1] === "!"
    ? text.slice(0, begin - 1)
    : text.slice(0, begin) + text.slice(begin + 1, open)
}

function closeEmphasis(text: string): string {
  const paragraph = text.slice(text.lastIndexOf("\n\n") + 1)
  if ((paragraph.match(/`+/g) ?? []).length % 2 === 1)
    return `${text}${/(`+)[^`]*$/.exec(paragraph)?.[1] ?? ""}`
  const words = paragraph.replace(/`+[^`]*`+|\\[*_~]/g, "")
  let closing = ""
  if (countOf(words, "**") % 2 === 1) closing += "**"
  if (countOf(words, "~~") % 2 === 1) closing += "~~"
  const single = words.replaceAll("**", "").match(/(?<![*\s])\*|\*(?![*\s])/g) ?? []
  if (single.length % 2 === 1) closing = `*${closing}`
  return closing ? text.trimEnd() + closing : text
}

function countOf(text: string, mark: string) {
  return text.split(mark).length - 1
}
