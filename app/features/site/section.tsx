import type { ReactNode } from "react"

/** A section of a public page: a heading, a sentence, and its content. */
export function Section({
  id,
  title,
  lead,
  children,
}: {
  id?: string
  title: string
  lead?: ReactNode
  children: ReactNode
}) {
  return (
    <section id={id} className="mx-auto max-w-6xl px-5 py-16 sm:px-8 sm:py-24">
      <h2 className="max-w-2xl text-3xl font-semibold sm:text-4xl">{title}</h2>
      {lead ? <p className="mt-4 max-w-2xl text-lg text-muted">{lead}</p> : null}
      <div className="mt-10 sm:mt-14">{children}</div>
    </section>
  )
}
