import type { ReactNode } from "react"
import { TextLink } from "#app/ui/text-link.tsx"

/** The page's title and introduction, above the form. */
export function PageHead({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="mb-6">
      <h1 className="text-2xl font-semibold">{title}</h1>
      {children ? <p className="mt-2 text-muted">{children}</p> : null}
    </div>
  )
}

/** The link to the related page, below the form. */
export function PageFoot({ question, to, label }: { question: string; to: string; label: string }) {
  return (
    <p className="mt-6 text-center text-sm text-muted">
      {question} <TextLink to={to}>{label}</TextLink>
    </p>
  )
}
