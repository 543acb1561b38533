import type { ReactNode } from "react"
import { Button } from "#app/ui/button.tsx"

interface Act {
  intent: string
  /** What the act applies to, as names and values of hidden fields. */
  about?: Record<string, string> | undefined
  /** Appended to the button's label for screen readers, which do not convey the row. */
  whom: string
  children: ReactNode
}

/** A button that acts immediately. */
export function ActForm({ intent, about, whom, children }: Act) {
  return (
    <form method="post">
      <Fields intent={intent} about={about} />
      <Button type="submit" variant="secondary" size="sm">
        {children}
        <span className="sr-only"> {whom}</span>
      </Button>
    </form>
  )
}

/** The same for an act that cannot be undone: expands first, and shows a warning. */
export function CarefulActForm({ intent, about, whom, warning, children }: Act & { warning: string }) {
  return (
    <details className="group text-sm open:basis-full sm:open:basis-64">
      <summary className="flex h-8 cursor-pointer list-none items-center rounded-md px-3 font-medium text-danger-ink hover:bg-hover touch:min-h-11">
        {children} …<span className="sr-only"> {whom}</span>
      </summary>
      <form method="post" className="mt-2 flex flex-col items-start gap-3 px-3 pb-1">
        <Fields intent={intent} about={about} />
        <p className="text-muted">{warning}</p>
        <Button type="submit" variant="danger" size="sm">
          {children}
        </Button>
      </form>
    </details>
  )
}

function Fields({ intent, about }: Pick<Act, "intent" | "about">) {
  return (
    <>
      <input type="hidden" name="intent" value={intent} />
      {Object.entries(about ?? {}).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
    </>
  )
}
