import { Trans } from "@lingui/react/macro"
import type { MarkedToken, Token, Tokens } from "marked"
import type { ReactNode } from "react"
import { FootnoteReference } from "./footnotes.tsx"
import { inOrder } from "./in-order.tsx"
import { describeLink, isOwnImage } from "./links.ts"
import type { FootnoteReferenceToken } from "./footnote-tokens.ts"
import type { MathToken } from "./math-tokens.ts"
import { Formula } from "./math.tsx"

/** Text within a block: emphasis, code, links and images. */
export function renderInline(tokens: Token[] | undefined): ReactNode {
  return inOrder(tokens, (token) => renderToken(token as MarkedToken))
}

type InlineRenderers = {
  [Type in MarkedToken["type"]]?: (token: Extract<MarkedToken, { type: Type }>) => ReactNode
}

const renderers: InlineRenderers = {
  strong: ({ tokens }) => <strong className="font-semibold">{renderInline(tokens)}</strong>,
  em: ({ tokens }) => <em>{renderInline(tokens)}</em>,
  del: ({ tokens }) => <del className="text-faint">{renderInline(tokens)}</del>,
  codespan: ({ text }) => (
    <code className="rounded-sm border border-line bg-sunken px-1.5 py-0.5 font-mono text-[0.875em] [overflow-wrap:anywhere]">
      {text}
    </code>
  ),
  br: () => <br />,
  link: (token) => <SafeLink token={token} />,
  image: (token) => <SafeImage token={token} />,
  text: ({ tokens, text }) => (tokens ? renderInline(tokens) : text),
  escape: ({ text }) => text,
}

/** A token without a renderer, such as HTML, is shown as it was written. */
function renderToken(token: MarkedToken | MathToken | FootnoteReferenceToken): ReactNode {
  if (token.type === "footnoteReference") return <FootnoteReference token={token} />
  if (token.type === "math") return <Formula tex={token.tex} isBlock={token.isBlock} />
  // Each renderer takes the tokens of its own type.
  const render = renderers[token.type] as ((token: MarkedToken) => ReactNode) | undefined
  return render ? render(token) : token.raw
}

/**
 * Shows where it leads: the text of a link comes from the model, so only its URL can be trusted.
 */
function SafeLink({ token }: { token: Tokens.Link }) {
  const link = describeLink(token.href)
  if (!link) return renderInline(token.tokens)
  const namesItsHost = token.text.includes(link.host)
  return (
    <>
      <a
        href={link.address}
        title={link.address}
        target="_blank"
        rel="noreferrer noopener nofollow"
        className="text-accent-ink underline decoration-accent-line underline-offset-[0.2em] hover:decoration-current"
      >
        {renderInline(token.tokens)}
      </a>
      {link.host && !namesItsHost ? <span className="text-[0.85em] text-faint"> ({link.host})</span> : null}
    </>
  )
}

function SafeImage({ token }: { token: Tokens.Image }) {
  if (isOwnImage(token.href)) {
    return (
      <img
        src={token.href}
        alt={token.text}
        loading="lazy"
        className="max-h-96 rounded-lg border border-line"
      />
    )
  }
  const host = describeLink(token.href)?.host
  return (
    <span className="rounded-sm bg-sunken px-1.5 py-0.5 text-sm text-faint">
      <Trans>Image not shown</Trans>
      {token.text ? `: ${token.text}` : ""}
      {host ? ` (${host})` : ""}
    </span>
  )
}
