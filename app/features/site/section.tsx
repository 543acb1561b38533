import type { ReactNode } from "react"
import { classNames } from "#app/ui/class-names.ts"

/** A section of a public page: a heading, a sentence, and its content. */
export function Section({
  id,
  title,
  lead,
  children,
  className,
}: {
  id?: string
  title: string
  lead?: ReactNode
  children: ReactNode
  className?: string
}) {
  return (
    <section id={id} className={classNames("mx-auto max-w-6xl px-5 py-16 sm:px-8 sm:py-24", className)}>
      <h2 className="max-w-2xl text-3xl font-semibold sm:text-4xl">{title}</h2>
      {lead ? <p className="mt-4 max-w-2xl text-lg text-muted">{lead}</p> : null}
      <div className="mt-10 sm:mt-14">{children}</div>
    </section>
  )
}
