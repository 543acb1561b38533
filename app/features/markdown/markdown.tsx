import { useLingui } from "@lingui/react/macro"
import type { MarkedToken, Token, Tokens } from "marked"
import { memo, type ReactNode } from "react"
import { CodeBlock } from "./code-block.tsx"
import { FootnoteList, FootnotesProvider, useFootnotes } from "./footnotes.tsx"
import { inOrder } from "./in-order.tsx"
import { classOfText } from "./long-run.ts"
import { LongText } from "./long-text.tsx"
import { renderInline } from "./inline.tsx"
import type { FootnoteToken } from "./footnote-tokens.ts"
import type { MathToken } from "./math-tokens.ts"
import { Formula } from "./math.tsx"
import { useReading } from "./use-reading.ts"

/** Nesting of lists and quotations. Anything deeper is shown as it was written. */
export const DEEPEST = 12

interface MarkdownProps {
  text: string
  /** More of it is to come. */
  isGrowing?: boolean
}

/**
 * Renders the text of a model as Markdown. The text is untrusted, so nothing in it is ever inserted
 * as HTML: it is parsed into tokens, which are rendered as our own elements. Images load from this
 * site alone, because a URL can leak what the model has read.
 */
export const Markdown = memo(function Markdown({ text, isGrowing = false }: MarkdownProps) {
  const blocks = useReading(text, { isGrowing })
  const footnotes = useFootnotes(text, blocks, { isGrowing })
  if (!blocks) return <LongText text={text} />
  return (
    <FootnotesProvider value={footnotes}>
      <div className={classOfText(text, "space-y-4 break-words [&_:is(ul,ol)]:space-y-1.5")}>
        {inOrder(blocks, (block, place) => (
          <Block token={block} isOpen={isGrowing && place === blocks.length - 1} />
        ))}
        <FootnoteList footnotes={footnotes.listed} render={renderFootnote} />
      </div>
    </FootnotesProvider>
  )
})

function renderFootnote(tokens: Token[], end: ReactNode): ReactNode {
  const last = tokens.at(-1)
  const isText = last?.type === "paragraph"
  return (
    <>
      {renderBlocks(isText ? tokens.slice(0, -1) : tokens, "", 0)}
      <p>
        {isText ? renderInline((last as Tokens.Paragraph).tokens) : null}
        {end}
      </p>
    </>
  )
}

/** Renders again only when its text has changed: in a growing reply, that is the last block. */
const Block = memo(function Block({ token, isOpen }: { token: Token; isOpen: boolean }) {
  if (token.type === "code") return <Code token={token as Tokens.Code} isOpen={isOpen} />
  return renderBlock(token as MarkedToken, 0)
})

/** A block with its closing fence is complete, even while it is the last. */
function Code({ token, isOpen }: { token: Tokens.Code; isOpen: boolean }) {
  const isFenced = /\n {0,3}(?:`{3,}|~{3,})\s*$/.test(token.raw)
  return (
    <CodeBlock
      code={token.text}
      language={token.lang?.split(/\s/, 1)[0] ?? ""}
      isOpen={isOpen && !isFenced}
    />
  )
}

type BlockRenderers = {
  [Type in MarkedToken["type"]]?: (token: Extract<MarkedToken, { type: Type }>, depth: number) => ReactNode
}

const blockRenderers: BlockRenderers = {
  heading: (token) => <Heading token={token} />,
  paragraph: ({ tokens }) => <p>{renderInline(tokens)}</p>,
  text: ({ tokens, text }) => (tokens ? renderInline(tokens) : text),
  code: (token) => <Code token={token} isOpen={false} />,
  blockquote: ({ tokens, raw }, depth) => (
    <blockquote className="space-y-3 border-l-3 border-accent-line pl-4 text-muted">
      {renderBlocks(tokens, raw, depth)}
    </blockquote>
  ),
  list: (token, depth) => <List token={token} depth={depth} />,
  table: (token) => <Table token={token} />,
  hr: () => <hr className="border-line" />,
  space: () => null,
  def: () => null,
}

/** What has no renderer, such as HTML, is shown as it was written. */
function renderBlock(token: MarkedToken | MathToken | FootnoteToken, depth: number): ReactNode {
  if (token.type === "math") return <Formula tex={token.tex} isBlock={token.isBlock} />
  if (token.type === "footnote") return null // listed below the text
  // Each renderer takes the tokens of its own type.
  const render = blockRenderers[token.type] as ((token: MarkedToken, depth: number) => ReactNode) | undefined
  return render ? render(token, depth) : <p className="whitespace-pre-wrap">{token.raw.trimEnd()}</p>
}

function renderBlocks(tokens: Token[], raw: string, depth: number): ReactNode {
  if (depth >= DEEPEST) return <span className="whitespace-pre-wrap">{raw}</span>
  return inOrder(tokens, (token) => renderBlock(token as MarkedToken, depth + 1))
}

/** The page's own headings end at the second level, so an answer's begin at the third. */
function Heading({ token }: { token: Tokens.Heading }) {
  const Tag = (["h3", "h3", "h4", "h5", "h6", "h6"] as const)[token.depth - 1] ?? "h6"
  const size = token.depth === 1 ? "text-xl" : token.depth === 2 ? "text-lg" : "text-base"
  return <Tag className={`${size} pt-2 font-semibold tracking-tight`}>{renderInline(token.tokens)}</Tag>
}

function List({ token, depth }: { token: Tokens.List; depth: number }) {
  const items = inOrder(token.items, (item) => (
    <li className={item.task ? "list-none" : "pl-1 marker:text-faint"}>
      <div className={item.loose ? "space-y-3" : "space-y-1.5"}>{renderItem(item, depth)}</div>
    </li>
  ))
  if (!token.ordered) return <ul className="list-disc pl-5">{items}</ul>
  return (
    <ol className="list-decimal pl-6" {...(typeof token.start === "number" && { start: token.start })}>
      {items}
    </ol>
  )
}

/** The text of a tight item stands in a block of its own, so that the list inside it begins on a new line. */
function renderItem({ tokens, raw, task, checked }: Tokens.ListItem, depth: number): ReactNode {
  if (depth >= DEEPEST) return renderBlocks(tokens, raw, depth)
  const blocks = tokens.filter(({ type }) => type !== "checkbox")
  return inOrder(blocks, (token, index) => (
    <div>
      {index === 0 && task ? <Checkbox checked={checked === true} /> : null}
      {renderBlock(token as MarkedToken, depth + 1)}
    </div>
  ))
}

function Checkbox({ checked }: { checked: boolean }) {
  const { t } = useLingui()
  return (
    <input
      type="checkbox"
      checked={checked}
      readOnly
      disabled
      aria-label={checked ? t({ message: "Done", context: "task" }) : t`Not done`}
      className="mr-2 -ml-5 size-3.5 align-[-0.1em] accent-accent"
    />
  )
}

function Table({ token }: { token: Tokens.Table }) {
  const { t } = useLingui()
  return (
    <div
      className="overflow-x-auto rounded-lg border border-line"
      tabIndex={0}
      role="group"
      aria-label={t`Table`}
    >
      <table className="w-full border-collapse text-sm">
        <thead>
          <tr>
            {inOrder(token.header, ({ align, tokens }) => (
              <th
                scope="col"
                align={align ?? "left"}
                className="bg-sunken px-3.5 py-2 font-medium text-muted"
              >
                {renderInline(tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {inOrder(token.rows, (row) => (
            <Row cells={row} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ cells }: { cells: Tokens.TableCell[] }) {
  return (
    <tr className="border-t border-line">
      {inOrder(cells, ({ align, tokens }) => (
        <td align={align ?? "left"} className="px-3.5 py-2 align-top">
          {renderInline(tokens)}
        </td>
      ))}
    </tr>
  )
}
