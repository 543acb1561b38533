import { useId, type ReactNode } from "react"
import { Alert } from "#app/ui/alert.tsx"
import type { Outcome } from "./outcome.ts"

/** A section of the account page, with the result of its last change. */
export function Section({
  id: anchor,
  title,
  about,
  outcome,
  children,
}: {
  /** For links to it. */
  id?: string
  title: string
  about?: ReactNode
  outcome?: Outcome | undefined
  children: ReactNode
}) {
  const id = useId()
  return (
    <section
      id={anchor}
      aria-labelledby={id}
      className="mt-5 scroll-mt-20 rounded-lg border border-line bg-surface p-5 shadow-sm"
    >
      <h2 id={id} className="font-medium">
        {title}
      </h2>
      {about ? <p className="mt-1 text-sm text-muted">{about}</p> : null}
      <div role="status">
        {outcome?.done ? <Alert tone="success" title={outcome.done} className="mt-4" /> : null}
      </div>
      {outcome?.errors?.["form"] ? (
        <Alert tone="danger" title={outcome.errors["form"]} className="mt-4" />
      ) : null}
      <div className="mt-4">{children}</div>
    </section>
  )
}
