import type { ComponentProps } from "react"
import { Link } from "react-router"
import { classNames } from "./class-names.ts"

/** A link in running text, or alone below a form. */
export function TextLink({ className, ...rest }: ComponentProps<typeof Link>) {
  return (
    <Link
      {...rest}
      className={classNames(
        "inline-flex min-h-6 items-center rounded-sm text-accent-ink underline decoration-accent-line underline-offset-3 transition-colors hover:decoration-current",
        className,
      )}
    />
  )
}
