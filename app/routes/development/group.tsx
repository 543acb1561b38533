import { useId, type ReactNode } from "react"

export function Group({ title, children }: { title: string; children: ReactNode }) {
  const id = useId()
  return (
    <section aria-labelledby={id} className="grid min-w-0 grid-cols-1 gap-5">
      <h2 id={id} className="border-b border-line pb-2 text-lg font-semibold">
        {title}
      </h2>
      {children}
    </section>
  )
}
