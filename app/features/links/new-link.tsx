import { Trans, useLingui } from "@lingui/react/macro"
import { useId, useRef, useState } from "react"
import { Button } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"

/** The URL of the new link, which is never shown again. */
export function NewLink({ url, onMore }: { url: string; onMore: () => void }) {
  const { t } = useLingui()
  const input = useRef<HTMLInputElement>(null)
  const [isCopied, setCopied] = useState(false)
  const id = useId()
  async function copy() {
    input.current?.select()
    await navigator.clipboard.writeText(url)
    setCopied(true)
  }
  return (
    <div>
      <label htmlFor={id} className="text-sm font-medium">
        <Trans>Link</Trans>
      </label>
      <div className="mt-1.5 flex gap-2">
        <input
          ref={input}
          id={id}
          readOnly
          value={url}
          autoFocus
          onFocus={({ currentTarget }) => {
            currentTarget.select()
            // The beginning of the URL shows that it is the right one.
            requestAnimationFrame(() => {
              currentTarget.scrollLeft = 0
            })
          }}
          aria-describedby={`${id}-hint`}
          className="h-10 min-w-0 flex-1 rounded-md border border-line-strong bg-sunken px-3 font-mono text-sm"
        />
        <Button onClick={() => void copy().catch(() => input.current?.select())}>
          <Icon name={isCopied ? "check" : "copy"} />
          {isCopied ? t`Copied` : t`Copy`}
        </Button>
      </div>
      <p id={`${id}-hint`} className="mt-1.5 text-sm text-muted">
        <Trans>Copy it now: it won't be shown again.</Trans>
      </p>
      <p role="status" className="sr-only">
        {isCopied ? t`Link copied.` : ""}
      </p>
      <Button variant="ghost" size="sm" className="mt-3 -ml-3" onClick={onMore}>
        <Icon name="plus" />
        <Trans>Create another link</Trans>
      </Button>
    </div>
  )
}
