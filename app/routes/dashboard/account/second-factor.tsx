import { plural } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { href } from "react-router"
import { RecoveryCodeList } from "#app/features/identity/recovery-code-list.tsx"
import { Alert } from "#app/ui/alert.tsx"
import { LinkButton } from "#app/ui/button.tsx"
import type { AccountChange, SecondFactor as Factor } from "#server/accounts/contract.ts"
import { ChangeForm } from "./change-form.tsx"
import type { Outcome } from "./outcome.ts"
import { CodeField, CurrentPasswordField } from "./proof-fields.tsx"
import { Section } from "./section.tsx"

/** With this many recovery codes left, new ones are suggested. */
const FEW = 3

export function SecondFactor({
  factor,
  hasPassword,
  outcome,
}: {
  factor: Factor | null
  hasPassword: boolean
  outcome: Outcome | undefined
}) {
  const { t } = useLingui()
  return (
    <Section
      title={t`Two-factor authentication`}
      about={t`Sign-in also asks for a code from an authenticator app.`}
      outcome={outcome}
    >
      {factor ? (
        <FactorInUse factor={factor} hasPassword={hasPassword} outcome={outcome} />
      ) : (
        <LinkButton
          to={`${href("/second-factor")}?redirect_url=/dashboard/account`}
          reloadDocument
          variant="secondary"
        >
          <Trans>Set up</Trans>
        </LinkButton>
      )}
    </Section>
  )
}

function FactorInUse({
  factor: { recoveryCodes: left },
  hasPassword,
  outcome,
}: {
  factor: Factor
  hasPassword: boolean
  outcome: Outcome | undefined
}) {
  const { t } = useLingui()
  const codes = t`${plural(left, { one: "# recovery code left", other: "# recovery codes left" })}`
  const failed = (intent: string) => outcome?.intent === intent && outcome.errors !== undefined
  return (
    <>
      <p className="mb-4 text-sm">
        <Trans>On, {codes}.</Trans>
      </p>
      {left <= FEW ? (
        <Alert tone="warning" title={t`Few recovery codes are left`} className="mb-4">
          <Trans>Create new ones, so that you can still sign in if you lose your phone.</Trans>
        </Alert>
      ) : null}
      {outcome?.recoveryCodes ? (
        <div className="mb-5 max-w-sm">
          <p className="mb-3 text-sm">
            <Trans>These won't be shown again, and the earlier ones have stopped working.</Trans>
          </p>
          <RecoveryCodeList codes={outcome.recoveryCodes} />
        </div>
      ) : null}
      {/* Both expand without JavaScript, and stay open after an error. */}
      <details open={failed("renew-recovery-codes")} className="mb-3">
        <summary className="w-fit cursor-pointer rounded-md text-sm font-medium">
          <Trans>New recovery codes</Trans>
        </summary>
        <ProofForm
          intent="renew-recovery-codes"
          submit={t`Create new codes`}
          hasPassword={hasPassword}
          outcome={outcome}
        />
      </details>
      <details open={failed("remove-second-factor")}>
        <summary className="w-fit cursor-pointer rounded-md text-sm font-medium text-danger-ink">
          <Trans>Turn off two-factor authentication</Trans>
        </summary>
        <ProofForm
          intent="remove-second-factor"
          submit={t`Turn off`}
          variant="danger"
          hasPassword={hasPassword}
          outcome={outcome}
        />
      </details>
    </>
  )
}

/** Asks for the password or a code, which somebody who finds an unlocked browser does not have. */
function ProofForm({
  intent,
  submit,
  variant = "primary",
  hasPassword,
  outcome,
}: {
  intent: AccountChange["intent"]
  submit: string
  variant?: "primary" | "danger"
  hasPassword: boolean
  outcome: Outcome | undefined
}) {
  const errors = outcome?.intent === intent ? outcome.errors : undefined
  return (
    <ChangeForm
      intent={intent}
      submit={submit}
      variant={variant}
      className="mt-4 mb-2 flex flex-col items-start gap-4"
    >
      {hasPassword ? <CurrentPasswordField error={errors?.["current"]} /> : null}
      <CodeField error={errors?.["code"]} />
    </ChangeForm>
  )
}
