import type { ReactNode } from "react"
import { HomeLink } from "#app/features/site/home-link.tsx"

/** The layout of the waitlist's pages: a centred form, and a link to the home page. */
export function WaitlistFrame({
  title,
  lead,
  children,
}: {
  title: string
  lead?: string
  children: ReactNode
}) {
  return (
    <div className="flex min-h-dvh flex-col px-6">
      <header className="py-6">
        <HomeLink />
      </header>
      <main className="mx-auto flex w-full max-w-md flex-1 flex-col justify-center pb-24">
        <h1 className="text-3xl font-semibold">{title}</h1>
        {lead ? <p className="mt-3 text-muted">{lead}</p> : null}
        <div className="mt-8">{children}</div>
      </main>
    </div>
  )
}
