import type { ReactNode } from "react"

/** The title and introduction of a public page. */
export function PageHead({
  title,
  children,
  eyebrow,
}: {
  title: string
  children?: ReactNode
  eyebrow?: string
}) {
  return (
    <div className="pt-16 pb-8 sm:pt-24">
      {eyebrow ? <p className="mb-3 font-mono text-sm text-accent-ink">{eyebrow}</p> : null}
      <h1 className="max-w-3xl text-4xl font-semibold sm:text-display">{title}</h1>
      {children ? <p className="mt-5 max-w-2xl text-lg text-muted">{children}</p> : null}
    </div>
  )
}
