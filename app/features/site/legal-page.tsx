import type { ReactNode } from "react"
import { InEnglish } from "./in-english.tsx"

/** A legal text. States that the operator of the server is responsible for it. */
export function LegalPage({
  title,
  changed,
  children,
}: {
  title: string
  changed: string
  children: ReactNode
}) {
  return (
    <div className="mx-auto max-w-2xl px-5 pt-16 pb-24 sm:px-8 sm:pt-24">
      <InEnglish className="mb-6" />
      <article lang="en">
        <h1 className="text-4xl font-semibold">{title}</h1>
        <p className="mt-3 text-sm text-faint">Last changed on {changed}.</p>
        <div className="prose mt-10">{children}</div>
      </article>
    </div>
  )
}
