import type { ReactNode } from "react"
import { Form, useNavigation } from "react-router"
import { Button } from "#app/ui/button.tsx"
import type { SpaceAct } from "#server/spaces/form-contract.ts"

/** A form for one change of a space. `about` is the field that names what it is about. */
export function ActForm({
  intent,
  submit,
  variant = "secondary",
  about,
  hasFile = false,
  savesOnChange = false,
  className,
  children,
}: {
  intent: SpaceAct["intent"] | "create" | "accept" | "decline" | "restore"
  submit: string
  variant?: "primary" | "secondary" | "ghost" | "danger"
  /** The label says whom or what the button is about, for those who cannot see it beside it. */
  about?: { name: string; value: string; label: string }
  /** Whether one of its fields is a file. */
  hasFile?: boolean
  /** Submits when a field changes; the button is only for browsers without JavaScript. */
  savesOnChange?: boolean
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
      onChange={savesOnChange ? (event) => event.currentTarget.requestSubmit() : undefined}
      className={className}
    >
      <input type="hidden" name="intent" value={intent} />
      {about ? <input type="hidden" name={about.name} value={about.value} /> : null}
      {children}
      <div className={savesOnChange ? "hidden noscript:block" : "contents"}>
        <Button type="submit" variant={variant} size={about ? "sm" : "md"} pending={isPending}>
          {submit}
          {about ? <span className="sr-only"> {about.label}</span> : null}
        </Button>
      </div>
    </Form>
  )
}
