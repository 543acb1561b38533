/** What other programs understand of a reply. Everything else in it is only its text. */
const KEPT = new Set(
  "A B BLOCKQUOTE BR CODE DEL EM H1 H2 H3 H4 H5 H6 HR KBD LI OL P PRE STRONG SUB SUP TABLE TBODY TD TH THEAD TR UL".split(
    " ",
  ),
)

/** What belongs to the page: buttons, what only some readers see. */
const LEFT_OUT = "button, svg, img, .sr-only, [data-not-copied]"

/**
 * The HTML of the texts in an element for the clipboard, without the looks of this page. Formulas are
 * MathML, which word processors read. Throws if a text is shown without its formatting.
 */
export function toRichText(element: Element | null): string {
  const texts = element?.querySelectorAll("[data-formatted]") ?? []
  if (texts.length === 0 || element?.querySelector("[data-unformatted]"))
    throw new Error("This is plain text.")
  const page = document.implementation.createHTMLDocument()
  for (const text of texts) copyChildren(text, page.body)
  return page.body.innerHTML
}

export function toPreformatted(text: string): string {
  const page = document.implementation.createHTMLDocument()
  const pre = page.createElement("pre")
  pre.append(text)
  return pre.outerHTML
}

function copyChildren(from: Element, to: Element) {
  for (const node of from.childNodes) {
    if (node instanceof Text) to.append(node.data)
    else if (node instanceof Element && !node.matches(LEFT_OUT)) copyElement(node, to)
  }
}

function copyElement(from: Element, to: Element) {
  if (from.localName === "math") {
    const formula = from.cloneNode(true) as Element
    for (const source of formula.querySelectorAll("annotation")) source.remove()
    return to.append(formula)
  }
  if (from instanceof HTMLInputElement) return to.append(from.checked ? "☑ " : "☐ ")
  if (!KEPT.has(from.tagName)) return copyChildren(from, to)
  const copy = to.ownerDocument.createElement(from.localName)
  if (from instanceof HTMLAnchorElement) copy.setAttribute("href", from.href)
  if (from instanceof HTMLOListElement && from.start !== 1) copy.setAttribute("start", String(from.start))
  if (from instanceof HTMLTableCellElement && from.align) copy.setAttribute("align", from.align)
  copyChildren(from, copy)
  to.append(copy)
}
