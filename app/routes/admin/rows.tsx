import { Trans } from "@lingui/react/macro"
import type { ReactNode } from "react"
import { FormNotice } from "#app/features/operations/plain-form.tsx"
import { buttonClass } from "#app/ui/button.tsx"

/** A page's title, its description, and the error of the last form. */
export function Head({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <>
      <h1 className="text-2xl font-semibold">{title}</h1>
      {children ? <div className="mt-1 max-w-2xl text-sm text-muted">{children}</div> : null}
      <FormNotice ofAll className="mt-5" />
    </>
  )
}

/** A bordered list, or `empty` when there are no rows. */
export function Rows({ empty, children }: { empty: string; children: ReactNode[] }) {
  if (children.length === 0)
    return <p className="mt-5 rounded-lg border border-line bg-surface p-5 text-sm text-muted">{empty}</p>
  return (
    <ul className="mt-5 divide-y divide-line rounded-lg border border-line bg-surface shadow-sm">
      {children}
    </ul>
  )
}

/** A title, details, and the available acts. */
export function Row({
  title,
  about,
  mark,
  children,
}: {
  title: ReactNode
  about: ReactNode
  mark?: ReactNode
  children?: ReactNode
}) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-3 px-4 py-3 has-[details[open]]:items-start sm:px-5">
      <div className="min-w-52 flex-1">
        <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1 text-sm font-medium wrap-anywhere">
          {title} {mark}
        </p>
        <p className="mt-0.5 text-sm text-muted wrap-anywhere">{about}</p>
      </div>
      {children ? <div className="flex flex-wrap items-start gap-2">{children}</div> : null}
    </li>
  )
}

/** The link to the next page, if there is one. `before` is the last row's id. */
export function Older({ before, query }: { before: string | null; query?: Record<string, string> }) {
  if (before === null) return null
  return (
    <p className="mt-5">
      <a
        href={`?${new URLSearchParams({ ...query, before })}`}
        className={buttonClass({ variant: "secondary" })}
      >
        <Trans>Older</Trans>
      </a>
    </p>
  )
}
