import type { ReactNode } from "react"
import { Breadcrumbs } from "./breadcrumbs.tsx"
import { classNames } from "./class-names.ts"

/** A page inside the shell that scrolls with the window. */
export function Page({ narrow = false, children }: { narrow?: boolean; children: ReactNode }) {
  return (
    <div
      className={classNames("mx-auto w-full px-5 py-8 sm:px-8 lg:py-12", narrow ? "max-w-3xl" : "max-w-5xl")}
    >
      {children}
    </div>
  )
}

/** The page's title and its actions. `above` links to the parent page. */
export function PageHead({
  title,
  above,
  children,
}: {
  title: string
  above?: readonly { to: string; label: string }[]
  children?: ReactNode
}) {
  return (
    <>
      {above ? <Breadcrumbs above={above} /> : null}
      <div className="flex min-h-10 flex-wrap items-center justify-between gap-x-6 gap-y-4">
        <h1 dir="auto" className="min-w-0 flex-auto text-2xl font-semibold wrap-anywhere sm:text-3xl">
          {title}
        </h1>
        {children ? <div className="flex items-center gap-3">{children}</div> : null}
      </div>
    </>
  )
}
