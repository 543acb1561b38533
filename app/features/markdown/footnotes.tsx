import { useLingui } from "@lingui/react/macro"
import { createContext, use, useId, useMemo, type MouseEvent, type ReactNode } from "react"
import { classNames } from "#app/ui/class-names.ts"
import { mayHoldFootnotes } from "./may-hold-footnotes.ts"
import type { Block, FootnoteReferenceToken, FootnoteToken } from "./tokens.ts"

/** A footnote as listed below a text. */
interface Footnote {
  /** Null if nothing refers to it. */
  number: number | null
  token: FootnoteToken
  id: string
  /** The ids of the references to it. */
  references: string[]
}

interface Reference {
  number: number
  id: string
  /** The id of the footnote; null until it has arrived. */
  target: string | null
}

interface Footnotes {
  listed: Footnote[]
  references: ReadonlyMap<FootnoteReferenceToken, Reference>
}

const FootnotesContext = createContext<Footnotes>({ listed: [], references: new Map() })
export const FootnotesProvider = FootnotesContext.Provider

/** The footnotes of one text, with ids that are unique on the page. */
export function useFootnotes(
  text: string,
  blocks: readonly Block[] | null,
  { isGrowing }: { isGrowing: boolean },
): Footnotes {
  const prefix = useId().replace(/[^\w-]/g, "")
  const searched = mayHoldFootnotes(text) ? blocks : null
  return useMemo(() => number(searched ?? [], { isGrowing, prefix }), [searched, isGrowing, prefix])
}

/**
 * Numbers the footnotes in the order of their first references; those without a reference come
 * last, so that no text is lost. If several have one label, the first counts. While the text grows,
 * a reference gets its number before its footnote arrives. The ids are made of numbers, because
 * labels come from the model and repeat from message to message.
 */
function number(
  blocks: readonly Block[],
  { isGrowing, prefix }: { isGrowing: boolean; prefix: string },
): Footnotes {
  const found = collect(blocks)
  const definitions = new Map(found.definitions.toReversed().map((token) => [token.label, token]))
  const numbers = new Map<string, number>()
  const references = new Map<FootnoteReferenceToken, Reference>()
  const footnotes = new Map<FootnoteToken, Footnote>()

  found.references.forEach(refer)
  for (const { blocks: inner } of footnotes.keys()) collect(inner).references.forEach(refer)
  for (const token of found.definitions) {
    list(token)
    collect(token.blocks).references.forEach(refer)
  }
  return { listed: [...footnotes.values()], references }

  function refer(token: FootnoteReferenceToken) {
    const definition = definitions.get(token.label)
    if (references.has(token) || (!definition && !isGrowing)) return
    const given = numbers.get(token.label) ?? numbers.size + 1
    numbers.set(token.label, given)
    const footnote = definition && list(definition)
    if (!footnote) return void references.set(token, { number: given, id: "", target: null })
    footnote.number = given
    const id = `${prefix}-reference-${given}-${footnote.references.length + 1}`
    footnote.references.push(id)
    references.set(token, { number: given, id, target: footnote.id })
  }

  function list(token: FootnoteToken): Footnote {
    const known = footnotes.get(token)
    if (known) return known
    const id = `${prefix}-footnote-${footnotes.size + 1}`
    const footnote: Footnote = { number: null, token, id, references: [] }
    footnotes.set(token, footnote)
    return footnote
  }
}

type Found = { definitions: FootnoteToken[]; references: FootnoteReferenceToken[] }

/** Collects in document order. References inside a footnote are kept apart from those around it. */
function collect(blocks: readonly Block[]): Found {
  const found: Found = { definitions: [], references: [] }
  visit(blocks)
  return found

  function visit(node: unknown) {
    if (Array.isArray(node)) return node.forEach(visit)
    if (typeof node !== "object" || node === null) return
    if (!("type" in node)) return Object.values(node).forEach(visit) // a table cell
    if (node.type === "footnote") found.definitions.push(node as FootnoteToken)
    else if (node.type === "footnoteReference") found.references.push(node as FootnoteReferenceToken)
    else for (const inner of Object.values(node)) if (typeof inner === "object") visit(inner)
  }
}

const LINK = "rounded-sm px-0.5 text-accent-ink"

/** Small and raised, so that it is recognisable as a link without an underline. */
const NUMBER = `${LINK} no-underline hover:underline`

/**
 * The number that links to a footnote. A reference without a footnote is shown as it was written.
 */
export function FootnoteReference({ token }: { token: FootnoteReferenceToken }) {
  const { t } = useLingui()
  const reference = use(FootnotesContext).references.get(token)
  if (!reference) return `[^${token.label}]`
  const { number: shown, id, target } = reference
  return (
    <sup className="text-[0.75em] leading-none">
      {target ? (
        <a
          id={id}
          href={`#${target}`}
          role="doc-noteref"
          aria-label={t`Footnote ${shown}`}
          className={NUMBER}
          onClick={goToTarget}
        >
          {shown}
        </a>
      ) : (
        shown
      )}
    </sup>
  )
}

interface FootnoteListProps {
  footnotes: readonly Footnote[]
  /** Renders the blocks of a footnote, with `end` after the last of its text. */
  render: (blocks: readonly Block[], end: ReactNode) => ReactNode
}

export function FootnoteList({ footnotes, render }: FootnoteListProps) {
  const { t } = useLingui()
  if (footnotes.length === 0) return null
  return (
    <section
      role="doc-endnotes"
      aria-label={t`Footnotes`}
      className="border-t border-line pt-3 text-sm text-muted"
    >
      <ol className="list-decimal space-y-1.5 pl-6">
        {footnotes.map(({ number: shown, token, id, references }) => (
          <li
            key={id}
            id={id}
            tabIndex={-1}
            {...(shown !== null && { value: shown })}
            className={classNames(
              "scroll-mt-16 rounded-sm pl-1 outline-hidden transition-colors marker:text-faint focus:bg-accent-soft",
              shown === null && "list-none",
            )}
          >
            <div className="space-y-1.5">
              {render(token.blocks, <BackLinks number={shown} references={references} />)}
            </div>
          </li>
        ))}
      </ol>
    </section>
  )
}

function BackLinks({ number: shown, references }: Pick<Footnote, "number" | "references">) {
  const { t } = useLingui()
  return references.map((id, at) => {
    const occurrence = at + 1
    return (
      <span key={id}>
        {"\u00a0"}
        <a
          href={`#${id}`}
          role="doc-backlink"
          aria-label={at === 0 ? t`Back to reference ${shown}` : t`Back to reference ${shown}-${occurrence}`}
          className={`${LINK} underline`}
          onClick={goToTarget}
        >
          ↩{at === 0 ? null : <sup className="text-[0.75em] leading-none">{occurrence}</sup>}
        </a>
      </span>
    )
  })
}

/** Adds no entry to the history, so that Back leaves the conversation. */
function goToTarget(event: MouseEvent<HTMLAnchorElement>) {
  const target = document.getElementById(event.currentTarget.hash.slice(1))
  if (!target || event.metaKey || event.ctrlKey || event.shiftKey) return
  event.preventDefault()
  target.scrollIntoView({ block: "nearest" })
  target.focus({ preventScroll: true })
}
