import { useEffect, useRef, type ReactNode } from "react"
import { Form, useNavigation } from "react-router"
import { Alert } from "#app/ui/alert.tsx"
import { Button } from "#app/ui/button.tsx"

/** A form about an account: it works without script, says what is wrong with the whole, and puts the cursor where to mend it. */
export function AccountForm({
  problem,
  refusal,
  submit,
  children,
}: {
  /** What is wrong with the whole form. */
  problem?: string | undefined
  /** What the last attempt came to: with another one, the cursor moves. */
  refusal: object | undefined
  /** The words on the button. */
  submit: string
  children: ReactNode
}) {
  const form = useRef<HTMLFormElement>(null)
  const isPending = useNavigation().formAction !== undefined

  useEffect(() => {
    if (!refusal) return
    const field = form.current?.querySelector<HTMLInputElement>(
      "[aria-invalid=true], input:not([type=hidden])",
    )
    field?.focus()
  }, [refusal])

  return (
    <Form ref={form} method="post" className="flex flex-col gap-4">
      {problem ? <Alert tone="danger" title={problem} /> : null}
      {children}
      <Button type="submit" pending={isPending} className="mt-1 w-full">
        {submit}
      </Button>
    </Form>
  )
}
