import type { ReactNode } from "react"
import { useFormats } from "#app/language/formats.ts"

/** A titled part of a page. */
export function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="mt-10">
      <h2 className="font-medium">{title}</h2>
      {children}
    </section>
  )
}

export function Figures({ children }: { children: ReactNode }) {
  return <dl className="mt-5 grid grid-cols-2 gap-3 sm:grid-cols-4">{children}</dl>
}

export function Figure({ label, value }: { label: string; value: number }) {
  const formats = useFormats()
  return (
    <div className="flex flex-col-reverse justify-end rounded-lg border border-line bg-surface p-4 shadow-sm">
      <dt className="text-sm text-muted">{label}</dt>
      <dd className="text-2xl font-semibold tabular-nums">{formats.number(value)}</dd>
    </div>
  )
}
