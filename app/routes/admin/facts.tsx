import type { ReactNode } from "react"

/** Values with their names, in columns as the width allows. */
export function Facts({ children }: { children: ReactNode }) {
  return (
    <dl className="mt-5 grid gap-x-8 gap-y-4 rounded-lg border border-line bg-surface p-5 text-sm shadow-sm sm:grid-cols-2 lg:grid-cols-4">
      {children}
    </dl>
  )
}

export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-muted">{label}</dt>
      <dd className="mt-0.5 font-medium tabular-nums wrap-anywhere">{children}</dd>
    </div>
  )
}
