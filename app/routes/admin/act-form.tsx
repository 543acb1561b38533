import { Button } from "#app/ui/button.tsx"

interface Act {
  intent: string
  /** What it is done to, as the form's field and value. */
  about?: Record<string, string> | undefined
  /** Says to whom, where the button alone does not: for who does not see the row around it. */
  label: string
  children: string
}

/** One thing to do, at once. */
export function ActForm({ intent, about, label, children }: Act) {
  return (
    <form method="post">
      <Fields intent={intent} about={about} />
      <Button type="submit" variant="secondary" size="sm" aria-label={label}>
        {children}
      </Button>
    </form>
  )
}

/** The same for what cannot be taken back: it opens first, and says what will be. */
export function CarefulActForm({ intent, about, label, warning, children }: Act & { warning: string }) {
  return (
    <details className="group text-sm open:basis-full sm:open:basis-64">
      <summary
        aria-label={label}
        className="flex h-8 cursor-pointer list-none items-center rounded-md px-3 font-medium text-danger-ink hover:bg-hover touch:min-h-11"
      >
        {children} …
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
