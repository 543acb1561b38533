import { Trans } from "@lingui/react/macro"
import type { ReactNode } from "react"
import { FootnoteReference } from "./footnotes.tsx"
import { inOrder } from "./in-order.tsx"
import { describeLink, isOwnImage, namesHost } from "./links.ts"
import { Formula } from "./math.tsx"
import type { ImageToken, Inline, LinkToken } from "./tokens.ts"

/** Text within a block: emphasis, code, links and images. */
export function renderInline(tokens: readonly Inline[] | undefined): ReactNode {
  return inOrder(tokens, renderToken)
}

function renderToken(token: Inline): ReactNode {
  switch (token.type) {
    case "text":
      return token.text
    case "code":
      return (
        <code className="rounded-sm border border-line bg-sunken px-1.5 py-0.5 font-mono text-[0.875em] [overflow-wrap:anywhere]">
          {token.text}
        </code>
      )
    case "break":
      return <br />
    case "link":
      return <SafeLink token={token} />
    case "image":
      return <SafeImage token={token} />
    case "math":
      return <Formula tex={token.tex} isBlock={token.isBlock} />
    case "footnoteReference":
      return <FootnoteReference token={token} />
    case "em":
    case "strong":
    case "del":
    case "sub":
    case "sup":
    case "kbd": {
      const Tag = token.type
      return <Tag className={CLASSES[Tag]}>{renderInline(token.tokens)}</Tag>
    }
  }
}

const CLASSES = {
  em: undefined,
  strong: "font-semibold",
  del: "text-faint",
  sub: "text-[0.75em] leading-none",
  sup: "text-[0.75em] leading-none",
  kbd: "rounded-sm border border-b-2 border-line bg-sunken px-1.5 font-mono text-[0.875em]",
}

/**
 * Shows where it leads: the text of a link comes from the model, so only its URL can be trusted.
 */
function SafeLink({ token }: { token: LinkToken }) {
  const link = describeLink(token.href)
  if (!link) return renderInline(token.tokens)
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
      {link.host && !namesHost(wordsOf(token.tokens), link.host) ? (
        <span className="text-[0.85em] text-faint"> ({link.host})</span>
      ) : null}
    </>
  )
}

function wordsOf(tokens: readonly Inline[]): string {
  return tokens
    .map((token) => ("tokens" in token ? wordsOf(token.tokens) : "text" in token ? token.text : ""))
    .join("")
}

function SafeImage({ token }: { token: ImageToken }) {
  if (isOwnImage(token.href)) {
    return (
      <img
        src={token.href}
        alt={token.alt}
        loading="lazy"
        className="max-h-96 rounded-lg border border-line"
      />
    )
  }
  const host = describeLink(token.href)?.host
  return (
    <span className="rounded-sm bg-sunken px-1.5 py-0.5 text-sm text-faint">
      <Trans>Image not shown</Trans>
      {token.alt ? `: ${token.alt}` : ""}
      {host ? ` (${host})` : ""}
    </span>
  )
}
