import { useEffect, useRef, useState, type ReactNode } from "react"
import { useActionData, useFetcher, useNavigate } from "react-router"
import { useSentences } from "#app/language/sentences.ts"
import { type Refused, type Shown, useClient } from "#live/react"
import { Alert } from "#app/ui/alert.tsx"
import { Button } from "#app/ui/button.tsx"
import { useToast } from "#app/ui/toast.tsx"
import { inputIn, nextPage, type FormOutcome } from "#server/operations/form-contract.ts"
import type { ArgsOf, MutationType, ValueOf } from "#live/contract"
import { PlainForm } from "./plain-form.tsx"

type FormOperation = MutationType & { readonly httpOnly?: true }

/** The attributes of the field for a value of the operation's input. */
type FieldOf<Op> = (
  name: keyof ArgsOf<Op> & string,
  value?: string,
) => { name: string; defaultValue: string | undefined; error: string | undefined }

/**
 * A form that performs an operation: as a mutation of the live connection, and by the page's action
 * (`performOperations`) without JavaScript, without a connection, and for what no socket takes. What is
 * refused is said at its field, or below the form. Its page has a `FormNotice`.
 */
export function OperationForm<Op extends FormOperation>({
  of: operation,
  values,
  submit,
  variant = "secondary",
  size,
  whom,
  next,
  done,
  shown,
  clears = false,
  hasFile = false,
  savesOnChange = false,
  className,
  children,
}: {
  of: Op
  /** What the form does not ask for. */
  values?: Partial<ArgsOf<Op>>
  /** The label of its button. */
  submit: ReactNode
  variant?: "primary" | "secondary" | "ghost" | "danger"
  size?: "sm" | "md" | "lg"
  /** Whom or what the button is about, for those who cannot see it beside it. */
  whom?: string
  /** The page that follows, with names for values of the output: `/s/:slug`. */
  next?: string
  /** What to say once it is done, if nothing else shows it. */
  done?: string | ((output: ValueOf<Op>) => string)
  /** What the live lists show before the server has answered, and while there is no connection. */
  shown?: readonly Shown[]
  /** Empties the fields once it is done. */
  clears?: boolean
  hasFile?: boolean
  /** Submits when a field changes; the button is only for browsers without JavaScript. */
  savesOnChange?: boolean
  className?: string
  /** The output is there once it is done. */
  children?: ReactNode | ((field: FieldOf<Op>, output: ValueOf<Op> | undefined) => ReactNode)
}) {
  const say = useSentences()
  const client = useClient()
  const toast = useToast()
  const navigate = useNavigate()
  const fetcher = useFetcher<FormOutcome>()
  const loaded = useActionData<unknown>()
  const [mutated, setMutated] = useState<FormOutcome | null>(null)
  const [isPending, setPending] = useState(false)
  /** What was chosen while an earlier choice is being saved. */
  const chosen = useRef<FormData | null>(null)
  const isSending = useRef(false)
  const form = useRef<HTMLFormElement>(null)
  const about = { operation: operation.name, values: JSON.stringify(values ?? {}) }
  const posted = fetcher.data ?? outcomeOf(loaded, about)
  // While it is sent again, nothing is known of it.
  const outcome = isPending ? undefined : (mutated ?? posted)
  const isDone = outcome !== undefined && !outcome.errors
  const output = outcome?.output as ValueOf<Op>
  const placed = new Set<string>()
  const field: FieldOf<Op> = (name, value) => {
    placed.add(name)
    const { errors, filled } = outcome ?? {}
    return { name, defaultValue: (errors && filled?.[name]) ?? value, error: say(errors?.[name]) }
  }
  const inside = typeof children === "function" ? children(field, isDone ? output : undefined) : children
  const [, problem] = Object.entries(outcome?.errors ?? {}).find(([name]) => !placed.has(name)) ?? []

  useEffect(() => {
    if (!outcome) return
    // A choice that was refused is not the stored one.
    if (outcome.errors ? savesOnChange : clears) form.current?.reset()
  }, [clears, savesOnChange, outcome])

  async function send(data: FormData) {
    if (isSending.current) {
      if (savesOnChange) chosen.current = data
      return
    }
    isSending.current = true
    setPending(true)
    for (chosen.current = data; chosen.current !== null;) {
      const { current } = chosen
      chosen.current = null
      await post(current)
    }
    isSending.current = false
    setPending(false)
  }

  function post(
    data: FormData,
    mutates = shown !== undefined || client.freshness().state === "live",
  ): Promise<void> {
    setMutated(null)
    return mutates && !operation.httpOnly ? mutate(data) : fetcher.submit(data, { method: "post", encType })
  }

  async function mutate(data: FormData): Promise<void> {
    try {
      const value = await client.mutate(operation, inputIn(data) as ArgsOf<Op>, shown)
      setMutated({ ...about, output: value })
      const title = wordsFor(done, value)
      if (title !== undefined) toast.show({ title })
      const page = next === undefined ? undefined : nextPage(next, value)
      // The page may have been moved to its new address in the meantime.
      if (page !== undefined && page !== window.location.pathname) await navigate(page)
    } catch (error) {
      // The answer to a posted form says which field it is.
      if ((error as Refused).code === "invalid") return post(data, false)
      setMutated({ ...about, errors: { form: error as Error } })
      if (!form.current) toast.show({ tone: "danger", title: say(error as Error) ?? "" })
    }
  }

  const encType = hasFile ? "multipart/form-data" : "application/x-www-form-urlencoded"
  return (
    <PlainForm
      of={operation}
      values={values}
      next={next}
      ref={form}
      encType={encType}
      onSubmit={(event) => {
        event.preventDefault()
        void send(new FormData(event.currentTarget))
      }}
      onChange={savesOnChange ? (event) => event.currentTarget.requestSubmit() : undefined}
      className={className}
    >
      {inside}
      <div className={savesOnChange ? "hidden noscript:block" : "contents"}>
        <Button type="submit" variant={variant} size={size} pending={isPending}>
          {submit}
          {whom === undefined ? null : <span className="sr-only"> {whom}</span>}
        </Button>
      </div>
      {problem ? <Alert tone="danger" title={say(problem)} className="basis-full" /> : null}
      {posted === outcome && isDone && done !== undefined ? (
        <Alert tone="success" title={wordsFor(done, output) ?? ""} className="basis-full" />
      ) : null}
    </PlainForm>
  )
}

function wordsFor<Output>(done: string | ((output: Output) => string) | undefined, output: Output) {
  return typeof done === "function" ? done(output) : done
}

/** What the page's action said of this form and not of another. */
function outcomeOf(loaded: unknown, { operation, values }: FormOutcome): FormOutcome | undefined {
  const outcome = loaded as FormOutcome | undefined
  return outcome?.operation === operation && outcome.values === values ? outcome : undefined
}
