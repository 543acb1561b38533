import type { ReactNode } from "react"
import { Form } from "react-router"
import { Alert } from "#app/ui/alert.tsx"
import { Button } from "#app/ui/button.tsx"

/** A form about an account, with the error that concerns all of it. Works without JavaScript. */
export function AccountForm({
  problem,
  submit,
  children,
}: {
  problem?: string | undefined
  /** The label of the button. */
  submit: string
  children: ReactNode
}) {
  return (
    // The server's messages are shown instead of the browser's, which no design reaches.
    <Form method="post" noValidate className="flex flex-col gap-4">
      {problem ? <Alert tone="danger" title={problem} /> : null}
      {children}
      <Button type="submit" className="mt-1 w-full">
        {submit}
      </Button>
    </Form>
  )
}
