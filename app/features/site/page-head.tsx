import type { ReactNode } from "react"

/** The title and introduction of a public page. */
export function PageHead({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="pt-16 pb-8 sm:pt-24">
      <h1 className="max-w-3xl text-4xl font-semibold sm:text-display">{title}</h1>
      {children ? <p className="mt-5 max-w-2xl text-lg text-muted">{children}</p> : null}
    </div>
  )
}
