import { Trans, useLingui } from "@lingui/react/macro"
import { memo, type ReactNode } from "react"
import { CodeBlock } from "./code-block.tsx"
import { FootnoteList, FootnotesProvider, useFootnotes } from "./footnotes.tsx"
import { inOrder } from "./in-order.tsx"
import { classOfText } from "./long-run.ts"
import { LongText } from "./long-text.tsx"
import { renderInline } from "./inline.tsx"
import { Formula } from "./math.tsx"
import { Reasoning } from "./reasoning.tsx"
import type { Block as BlockToken, Cell, CodeToken, ListItem, ListToken, TableToken } from "./tokens.ts"
import { BlocksInTurn, InTurn } from "./turns.tsx"
import { useReading } from "./use-reading.ts"
import { weighText } from "./weights.ts"

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
  if (!blocks) {
    return (
      <InTurn weight={weighText(text)}>
        <LongText text={text} />
      </InTurn>
    )
  }
  return (
    <FootnotesProvider value={footnotes}>
      <div
        data-formatted
        className={classOfText(
          text,
          "space-y-4 break-words [&_:is(p,li,h1,h2,h3,h4,h5,h6,th,td)]:[unicode-bidi:plaintext] [&_:is(ul,ol)]:space-y-1.5",
        )}
      >
        <BlocksInTurn
          blocks={blocks}
          render={(block, place) => <Block token={block} isOpen={isGrowing && place === blocks.length - 1} />}
        />
        <FootnoteList footnotes={footnotes.listed} render={renderFootnote} />
      </div>
    </FootnotesProvider>
  )
})

function renderFootnote(blocks: readonly BlockToken[], end: ReactNode): ReactNode {
  const last = blocks.at(-1)
  const isText = last?.type === "paragraph"
  return (
    <>
      {renderBlocks(isText ? blocks.slice(0, -1) : blocks, 0)}
      <p>
        {isText ? renderInline(last.tokens) : null}
        {end}
      </p>
    </>
  )
}

/** Renders again only when its text has changed: in a growing reply, that is the last block. */
const Block = memo(function Block({ token, isOpen }: { token: BlockToken; isOpen: boolean }) {
  return token.type === "codeBlock" ? <Code token={token} isOpen={isOpen} /> : renderBlock(token, 0)
})

/** A block with its closing fence is complete, even while it is the last. */
function Code({ token, isOpen }: { token: CodeToken; isOpen: boolean }) {
  return <CodeBlock code={token.text} language={token.language} isOpen={isOpen && !token.isClosed} />
}

function renderBlock(token: BlockToken, depth: number): ReactNode {
  switch (token.type) {
    case "heading":
      return <Heading depth={token.depth}>{renderInline(token.tokens)}</Heading>
    case "paragraph":
      return token.isTight ? renderInline(token.tokens) : <p>{renderInline(token.tokens)}</p>
    case "codeBlock":
      return <Code token={token} isOpen={false} />
    case "quotation":
      return (
        <blockquote className="space-y-3 border-l-3 border-accent-line pl-4 text-muted">
          {renderBlocks(token.blocks, depth)}
        </blockquote>
      )
    case "list":
      return <List token={token} depth={depth} />
    case "table":
      return <Table token={token} />
    case "rule":
      return <hr className="border-line" />
    case "math":
      return <Formula tex={token.tex} isBlock />
    case "details":
      return (
        <Details summary={token.summary.length > 0 ? renderInline(token.summary) : null}>
          {renderBlocks(token.blocks, depth)}
        </Details>
      )
    case "thoughts":
      return <Reasoning text={token.text} isGrowing={false} />
    case "footnote":
      return null // listed below the text
    case "html":
    case "plain":
      return <p className="whitespace-pre-wrap">{token.text.trimEnd()}</p>
  }
}

function renderBlocks(blocks: readonly BlockToken[], depth: number): ReactNode {
  return inOrder(blocks, (block) => renderBlock(block, depth + 1))
}

/** The page's own headings end at the second level, so an answer's begin at the third. */
function Heading({ depth, children }: { depth: number; children: ReactNode }) {
  const Tag = (["h3", "h3", "h4", "h5", "h6", "h6"] as const)[depth - 1] ?? "h6"
  const size = depth === 1 ? "text-xl" : depth === 2 ? "text-lg" : "text-base"
  return <Tag className={`${size} pt-2 font-semibold tracking-tight`}>{children}</Tag>
}

function Details({ summary, children }: { summary: ReactNode; children: ReactNode }) {
  return (
    <details className="rounded-lg border border-line px-3.5 py-2">
      <summary className="font-medium">{summary ?? <Trans>Details</Trans>}</summary>
      <div className="space-y-3 pt-2">{children}</div>
    </details>
  )
}

function List({ token: { isOrdered, start, items }, depth }: { token: ListToken; depth: number }) {
  const rendered = inOrder(items, (item) => (
    <li className={item.isDone === null ? "pl-1 marker:text-faint" : "list-none"}>
      <div className={item.isLoose ? "space-y-3" : "space-y-1.5"}>{renderItem(item, depth)}</div>
    </li>
  ))
  if (!isOrdered) return <ul className="list-disc pl-5">{rendered}</ul>
  return (
    <ol className="list-decimal pl-6" start={start}>
      {rendered}
    </ol>
  )
}

/** The text of a tight item stands in a block of its own, so that the list inside it begins on a new line. */
function renderItem({ blocks, isDone }: ListItem, depth: number): ReactNode {
  return inOrder(blocks, (block, index) => (
    <div>
      {index === 0 && isDone !== null ? <Checkbox checked={isDone} /> : null}
      {renderBlock(block, depth + 1)}
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

function Table({ token }: { token: TableToken }) {
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
              <th scope="col" align={align} className="bg-sunken px-3.5 py-2 font-medium text-muted">
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

function Row({ cells }: { cells: readonly Cell[] }) {
  return (
    <tr className="border-t border-line">
      {inOrder(cells, ({ align, tokens }) => (
        <td align={align} className="px-3.5 py-2 align-top">
          {renderInline(tokens)}
        </td>
      ))}
    </tr>
  )
}
