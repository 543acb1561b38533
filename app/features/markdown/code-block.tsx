import { useLingui } from "@lingui/react/macro"
import { memo, startTransition, useEffect, useState } from "react"
import { classNames } from "#app/ui/class-names.ts"
import { CopyButton } from "#app/ui/copy-button.tsx"
import { GhostButton } from "#app/ui/icon-button.tsx"
import { whenIdle } from "#app/ui/when-idle.ts"
import type { CodePiece } from "./highlight.ts"
import { inOrder } from "./in-order.tsx"

interface CodeBlockProps {
  code: string
  language: string
  /** More of it is to come: it is highlighted once it is complete. */
  isOpen?: boolean
}

export const CodeBlock = memo(function CodeBlock({ code, language, isOpen = false }: CodeBlockProps) {
  const { t } = useLingui()
  const [isWrapped, setWrapped] = useState(false)
  return (
    <div className="overflow-hidden rounded-lg border border-line bg-sunken">
      <div
        className="flex h-9 items-center justify-between border-b border-line pr-1 pl-3.5 text-xs text-faint touch:h-11"
        data-not-copied
      >
        <span className="truncate font-mono">{language || t`text`}</span>
        <span className="flex gap-1">
          <GhostButton
            label={t`Wrap lines`}
            icon="wrap"
            aria-pressed={isWrapped}
            onClick={() => setWrapped(!isWrapped)}
            className="size-7 noscript:hidden aria-pressed:text-accent-ink"
          />
          <CopyButton text={code} html={() => preformatted(code)} label={t`Copy code`} className="size-7" />
        </span>
      </div>
      <pre
        className={classNames(
          "overflow-x-auto p-3.5 font-mono text-[0.8125rem] leading-6",
          isWrapped && "wrap-anywhere whitespace-pre-wrap",
        )}
        tabIndex={0}
        role="group"
        aria-label={language ? t`Code, ${language}` : t`Code`}
      >
        <code>
          <Coloured code={code} language={language} isOpen={isOpen} />
        </code>
      </pre>
    </div>
  )
})

/** The code alone. */
export function Coloured({ code, language, isOpen = false }: CodeBlockProps) {
  const pieces = useColours(code, language, isOpen)
  return pieces ? inOrder(pieces, (piece) => <Piece piece={piece} />) : code
}

async function preformatted(code: string): Promise<string> {
  const { toPreformatted } = await import("./rich-text.ts")
  return toPreformatted(code)
}

function Piece({ piece: { text, scope } }: { piece: CodePiece }) {
  const colour = colourOf(scope)
  return colour ? <span className={colour}>{text}</span> : text
}

/** Null until they are found, and if there are none. */
function useColours(code: string, language: string, isOpen: boolean): CodePiece[] | null {
  const [found, setFound] = useState<{ code: string; pieces: CodePiece[] | null } | null>(null)
  useEffect(() => {
    if (isOpen || !language) return
    let isCurrent = true
    const find = async () => {
      const { findColours } = await import("./find-colours.ts")
      const pieces = await findColours({ code, language })
      if (isCurrent) startTransition(() => setFound({ code, pieces }))
    }
    // The code is readable without colours: neither a failing grammar nor a lost connection is
    // worth an error.
    const idle = whenIdle(() => void find().catch(() => {}), 500)
    return () => {
      isCurrent = false
      idle.cancel()
    }
  }, [code, language, isOpen])
  return found?.code === code ? found.pieces : null
}

function colourOf(scope: string | null): string | undefined {
  return scope === null ? undefined : (COLOURS[scope] ?? COLOURS[scope.split(".", 1)[0] ?? ""])
}

const COLOURS: Record<string, string> = {
  addition: "bg-success-soft text-success-ink",
  attr: "text-code-name",
  attribute: "text-code-name",
  built_in: "text-code-type",
  bullet: "text-code-keyword",
  comment: "text-faint italic",
  deletion: "bg-danger-soft text-danger-ink",
  doctag: "text-muted",
  keyword: "text-code-keyword",
  link: "text-code-string underline",
  literal: "text-code-number",
  meta: "text-faint",
  name: "text-code-keyword",
  number: "text-code-number",
  property: "text-code-name",
  quote: "text-faint italic",
  regexp: "text-code-string",
  section: "text-code-keyword font-medium",
  "selector-attr": "text-code-name",
  "selector-class": "text-code-type",
  "selector-id": "text-code-type",
  "selector-pseudo": "text-code-name",
  "selector-tag": "text-code-keyword",
  string: "text-code-string",
  strong: "font-semibold",
  emphasis: "italic",
  symbol: "text-code-number",
  "template-tag": "text-code-keyword",
  "template-variable": "text-code-name",
  title: "text-code-name",
  "title.class": "text-code-type",
  type: "text-code-type",
  variable: "text-code-name",
  "variable.language": "text-code-keyword",
}
