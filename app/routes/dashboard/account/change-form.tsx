import type { ReactNode } from "react"
import { Form, useNavigation } from "react-router"
import { Button } from "#app/ui/button.tsx"
import type { AccountChange } from "#server/accounts/contract.ts"

/** A form for one change, with its fields and its button. */
export function ChangeForm({
  intent,
  submit,
  variant = "primary",
  about,
  hasFile = false,
  className,
  children,
}: {
  intent: AccountChange["intent"]
  /** The label of the button. */
  submit: string
  variant?: "primary" | "secondary" | "danger"
  /** For lists with one such form per row: the name and value that identify the row. */
  about?: { name: string; value: string; label: string }
  /** Whether one of its fields is a file. */
  hasFile?: boolean
  className?: string
  children?: ReactNode
}) {
  const { formData } = useNavigation()
  const isPending = formData?.get("intent") === intent && (!about || formData.get(about.name) === about.value)
  return (
    <Form
      method="post"
      encType={hasFile ? "multipart/form-data" : "application/x-www-form-urlencoded"}
      preventScrollReset
      className={className}
    >
      <input type="hidden" name="intent" value={intent} />
      {about ? <input type="hidden" name={about.name} value={about.value} /> : null}
      {children}
      <Button type="submit" variant={variant} size={about ? "sm" : "md"} pending={isPending}>
        {submit}
        {about ? <span className="sr-only"> {about.label}</span> : null}
      </Button>
    </Form>
  )
}
