import { useLingui } from "@lingui/react/macro"
import { useEffect, useRef, useState } from "react"
import { CopyButton } from "#app/ui/copy-button.tsx"

let last = Promise.resolve()

/** Each formula is rendered in a task of its own, because a reply can hold thousands. */
function afterOthers() {
  last = last.then(() => new Promise((resolve) => setTimeout(resolve)))
  return last
}

/** A formula. Shows its source until KaTeX has been loaded, and if KaTeX cannot render it. */
export function Formula({ tex, isBlock }: { tex: string; isBlock: boolean }) {
  const { t } = useLingui()
  const place = useRef<HTMLSpanElement>(null)
  const [isDrawn, setDrawn] = useState(false)
  useEffect(() => {
    let isCurrent = true
    const draw = async () => {
      const { default: katex } = await import("katex")
      await afterOthers()
      if (!isCurrent || !place.current) return
      // MathML needs no style sheet and no font of its own. Nothing in a formula may load or link.
      katex.render(tex, place.current, {
        displayMode: isBlock,
        output: "mathml",
        strict: "ignore",
        trust: false,
        maxExpand: 500,
        maxSize: 20,
      })
      setDrawn(true)
    }
    draw().catch(() => {
      if (isCurrent) setDrawn(false)
    })
    return () => {
      isCurrent = false
    }
  }, [tex, isBlock])

  const source = <code className="font-mono text-[0.875em] text-muted">{tex}</code>
  if (!isBlock) {
    return (
      <>
        {isDrawn ? null : source}
        <span ref={place} hidden={!isDrawn} />
      </>
    )
  }
  return (
    <span
      className="group/math relative block overflow-x-auto py-1 text-center text-[1.1em]"
      tabIndex={0}
      role="group"
      aria-label={t`Formula`}
    >
      {isDrawn ? null : source}
      <span ref={place} hidden={!isDrawn} />
      <span className="absolute top-0 right-0 opacity-0 transition-opacity group-focus-within/math:opacity-100 group-hover/math:opacity-100">
        <CopyButton text={tex} label={t`Copy formula`} className="size-7" />
      </span>
    </span>
  )
}
