import { Trans } from "@lingui/react/macro"
import type { ReactNode } from "react"
import { Form, useNavigation } from "react-router"
import { Button } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"

export function StepHeading({ title, children }: { title: string; children: ReactNode }) {
  return (
    <>
      <h1 tabIndex={-1} className="text-3xl font-semibold outline-hidden">
        {title}
      </h1>
      <p className="mt-3 text-lg text-muted">{children}</p>
    </>
  )
}

/**
 * Back is a form of its own, because Enter in a field presses the first button of its form, which
 * must be Continue.
 */
export function StepEnd({ back, children }: { back: string; children: ReactNode }) {
  return (
    <div className="mt-8 flex flex-row-reverse items-center justify-between gap-3">
      {children}
      <Form method="post" className="-ml-3">
        <Button type="submit" variant="ghost" size="lg" name="intent" value={back} className="px-3">
          <Icon name="arrow-left" />
          <Trans>Back</Trans>
        </Button>
      </Form>
    </div>
  )
}

export function StepButton({
  intent,
  form,
  children,
}: {
  intent: string
  form?: string
  children: ReactNode
}) {
  const { formData } = useNavigation()
  return (
    <Button
      type="submit"
      size="lg"
      form={form}
      name="intent"
      value={intent}
      pending={formData?.get("intent") === intent}
    >
      {children}
      <Icon name="arrow-right" />
    </Button>
  )
}
