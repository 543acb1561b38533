import type { Ref } from "react"
import { Form, useActionData, type FormProps } from "react-router"
import { useSentences } from "#app/language/sentences.ts"
import { Alert } from "#app/ui/alert.tsx"
import { NEXT, OPERATION, VALUES, type FormOutcome } from "#server/operations/form-contract.ts"
import type { ArgsOf, MutationType } from "#live/contract"

/** A form of a page whose action is `performOperations`: it is posted, unless something happens instead. */
export function PlainForm<Op extends MutationType>({
  of: operation,
  values,
  next,
  instead,
  children,
  ...form
}: {
  of: Op
  /** What the form does not ask for. */
  values?: Partial<ArgsOf<Op>> | undefined
  /** The page that follows, with names for values of the output: `/s/:slug`. This one, if empty. */
  next?: string | undefined
  /** With JavaScript. */
  instead?: () => void
  ref?: Ref<HTMLFormElement>
} & FormProps) {
  const onSubmit: NonNullable<FormProps["onSubmit"]> = (event) => {
    if (!instead) return
    event.preventDefault()
    instead()
  }
  return (
    <Form method="post" onSubmit={onSubmit} {...form}>
      <input type="hidden" name={OPERATION} value={operation.name} />
      <input type="hidden" name={VALUES} value={JSON.stringify(values ?? {})} />
      {next === undefined ? null : <input type="hidden" name={NEXT} value={next} />}
      {children}
    </Form>
  )
}

/**
 * Why a posted form was refused: one that is no longer on the page, that could not be read, or, with
 * `ofAll`, any.
 */
export function FormNotice({ ofAll = false, className = "mt-4" }: { ofAll?: boolean; className?: string }) {
  const say = useSentences()
  const outcome = useActionData<FormOutcome>()
  const [problem] = ofAll || outcome?.operation === "" ? Object.values(outcome?.errors ?? {}) : []
  return problem ? <Alert tone="danger" title={say(problem)} className={className} /> : null
}
