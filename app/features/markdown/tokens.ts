/** Text within a block. */
export type Inline =
  | { type: "text"; text: string }
  | { type: "code"; text: string }
  | { type: "break" }
  | { type: "em" | "strong" | "del" | "sub" | "sup" | "kbd"; tokens: Inline[] }
  | LinkToken
  | ImageToken
  | MathToken
  | FootnoteReferenceToken

export interface LinkToken {
  type: "link"
  href: string
  tokens: Inline[]
}

export interface ImageToken {
  type: "image"
  href: string
  alt: string
}

/** A formula in TeX. */
export interface MathToken {
  type: "math"
  tex: string
  /** On a line of its own. */
  isBlock: boolean
}

/** `[^label]` within a text. */
export interface FootnoteReferenceToken {
  type: "footnoteReference"
  label: string
}

export type Block = (
  | { type: "heading"; depth: number; tokens: Inline[] }
  /** `isTight` in a list whose items are not paragraphs. */
  | { type: "paragraph"; tokens: Inline[]; isTight?: true }
  | CodeToken
  | { type: "quotation"; blocks: Block[] }
  | ListToken
  | TableToken
  | { type: "rule" }
  | { type: "details"; summary: Inline[]; blocks: Block[] }
  /** What the model thought before its reply, of which only the end was marked. */
  | { type: "thoughts"; text: string }
  /** Shown as it was written. */
  | { type: "plain"; text: string }
  | HtmlToken
  | MathToken
  | FootnoteToken
) & {
  /** The source of a block of the text itself, for parsing the end of a growing text again. */
  raw?: string
}

export interface CodeToken {
  type: "codeBlock"
  text: string
  language: string
  /** Its closing fence has been read. */
  isClosed: boolean
}

export interface ListToken {
  type: "list"
  isOrdered: boolean
  start: number
  items: ListItem[]
}

export interface ListItem {
  /** Null if it is no task. */
  isDone: boolean | null
  isLoose: boolean
  blocks: Block[]
}

export interface TableToken {
  type: "table"
  header: Cell[]
  rows: Cell[][]
}

export interface Cell {
  align: "left" | "center" | "right"
  tokens: Inline[]
}

/** Lines of HTML, before `<details>` is recognised. */
export interface HtmlToken {
  type: "html"
  text: string
}

/** `[^label]: text`, anywhere in the text. */
export interface FootnoteToken {
  type: "footnote"
  label: string
  blocks: Block[]
}
