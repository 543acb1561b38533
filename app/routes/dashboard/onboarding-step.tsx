import { Trans } from "@lingui/react/macro"
import type { ReactNode } from "react"
import { href, useNavigation } from "react-router"
import { PlainForm } from "#app/features/operations/plain-form.tsx"
import { Button } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { OPERATION } from "#server/operations/form-contract.ts"
import { userOperations } from "#server/users/operations-contract.ts"

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
export function StepEnd({ back, children }: { back: "welcome" | "profile"; children: ReactNode }) {
  return (
    <div className="mt-8 flex flex-row-reverse items-center justify-between gap-3">
      {children}
      <PlainForm
        of={userOperations.reopenOnboardingStep}
        values={{ step: back }}
        next={href("/onboarding")}
        className="-ml-3"
      >
        <Button type="submit" variant="ghost" size="lg" className="px-3">
          <Icon name="arrow-left" />
          <Trans>Back</Trans>
        </Button>
      </PlainForm>
    </div>
  )
}

/** The button of an operation's form, if that is elsewhere. */
export function StepButton({
  of: { name },
  form,
  children,
}: {
  of: { readonly name: string }
  form?: string
  children: ReactNode
}) {
  return (
    <Button type="submit" size="lg" form={form} pending={useNavigation().formData?.get(OPERATION) === name}>
      {children}
      <Icon name="arrow-right" />
    </Button>
  )
}
