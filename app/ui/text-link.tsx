import type { ComponentProps } from "react"
import { Link } from "react-router"

/** A link in running text, or alone below a form. */
export function TextLink(props: ComponentProps<typeof Link>) {
  return (
    <Link
      {...props}
      className="inline-flex min-h-6 items-center rounded-sm text-accent-ink underline decoration-accent-line underline-offset-3 transition-colors hover:decoration-current"
    />
  )
}
