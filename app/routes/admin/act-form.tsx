import type { ReactNode } from "react"
import { useLocation } from "react-router"
import { PlainForm } from "#app/features/operations/plain-form.tsx"
import { Button } from "#app/ui/button.tsx"
import { operatorOperations } from "#server/operator/operations-contract.ts"
import type { ArgsOf, MutationType } from "#live/contract"

interface Act<Op> {
  of: Op
  /** What the act applies to. */
  values?: ArgsOf<Op>
  /** Appended to the button's label for screen readers, which do not convey the row. */
  whom: string
  children: ReactNode
}

/** A button that acts immediately. */
export function ActForm<Op extends MutationType>({ of, values, whom, children }: Act<Op>) {
  return (
    <PlainForm of={of} values={values} next={useDone()}>
      <Button type="submit" variant="secondary" size="sm">
        {children}
        <span className="sr-only"> {whom}</span>
      </Button>
    </PlainForm>
  )
}

/** The same for an act that cannot be undone: expands first, and shows a warning. */
export function CarefulActForm<Op extends MutationType>({
  of,
  values,
  whom,
  warning,
  children,
}: Act<Op> & { warning: string }) {
  const done = useDone()
  return (
    <details className="group text-sm open:basis-full sm:open:basis-64">
      <summary className="flex h-8 cursor-pointer list-none items-center rounded-md px-3 font-medium text-danger-ink hover:bg-hover touch:min-h-11">
        {children} …<span className="sr-only"> {whom}</span>
      </summary>
      <PlainForm
        of={of}
        values={values}
        // Its link is in the response and nowhere else.
        next={of.name === operatorOperations.makePasswordLink.name ? undefined : done}
        className="mt-2 flex flex-col items-start gap-3 px-3 pb-1"
      >
        <p className="text-muted">{warning}</p>
        <Button type="submit" variant="danger" size="sm">
          {children}
        </Button>
      </PlainForm>
    </details>
  )
}

/** The page itself, which says what was done. */
export function useDone(): string {
  const { pathname, search } = useLocation()
  const query = new URLSearchParams(search)
  query.delete("did")
  return `${pathname}?${[...(query.size > 0 ? [query] : []), "did=:_id"].join("&")}`
}
