import { Trans, useLingui } from "@lingui/react/macro"
import { Badge } from "#app/ui/badge.tsx"
import { Field } from "#app/ui/field.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import type { AccountPasskey } from "#server/accounts/contract.ts"
import { ChangeForm } from "./change-form.tsx"
import { NewPasskey } from "./new-passkey.tsx"
import type { Outcome } from "./outcome.ts"
import { CurrentPasswordField } from "./proof-fields.tsx"
import { Section } from "./section.tsx"

export function Passkeys({
  passkeys,
  hasPassword,
  now,
  outcome,
}: {
  passkeys: readonly AccountPasskey[]
  hasPassword: boolean
  now: number
  outcome: Outcome | undefined
}) {
  const { t } = useLingui()
  return (
    <Section
      title={t`Passkeys`}
      about={t`Sign in with your fingerprint, your face or the PIN of your device. A passkey replaces the password and the code.`}
      outcome={outcome}
    >
      {passkeys.length > 0 ? (
        <ul className="mb-5 divide-y divide-line">
          {passkeys.map((passkey) => (
            <li key={passkey.id} className="py-3 first:pt-0">
              <p className="flex flex-wrap items-center gap-2 text-sm font-medium">
                <span className="min-w-0 truncate">{passkey.name}</span>
                {passkey.isSynced ? <Badge>{t`Synced`}</Badge> : null}
              </p>
              <p className="text-sm text-muted">
                <Trans>
                  added <RelativeTime at={passkey.createdAt} now={now} />
                </Trans>
                , <LastUse usedAt={passkey.usedAt} now={now} />
              </p>
              <ChangePasskey passkey={passkey} hasPassword={hasPassword} outcome={outcome} />
            </li>
          ))}
        </ul>
      ) : null}
      <NewPasskey key={passkeys.length} hasPassword={hasPassword} outcome={outcome} />
    </Section>
  )
}

function LastUse({ usedAt, now }: { usedAt: number | null; now: number }) {
  if (usedAt === null) return <Trans>never used</Trans>
  return (
    <Trans>
      used <RelativeTime at={usedAt} now={now} />
    </Trans>
  )
}

/** Opens without script, and stays open after a refusal. */
function ChangePasskey({
  passkey: { id, name },
  hasPassword,
  outcome,
}: {
  passkey: AccountPasskey
  hasPassword: boolean
  outcome: Outcome | undefined
}) {
  const { t } = useLingui()
  const errors = outcome?.values?.["passkeyId"] === id ? outcome.errors : undefined
  const about = { name: "passkeyId", value: id, label: name }
  return (
    <details open={errors !== undefined || undefined} className="mt-1">
      <summary className="w-fit cursor-pointer rounded-md text-sm">
        <Trans>Rename or remove</Trans>
        <span className="sr-only"> {name}</span>
      </summary>
      <ChangeForm
        intent="rename-passkey"
        submit={t`Rename`}
        variant="secondary"
        about={about}
        className="mt-3 flex flex-col items-start gap-3"
      >
        <Field
          className="w-full max-w-sm"
          label={t`Name`}
          name="name"
          defaultValue={name}
          autoComplete="off"
          required
          maxLength={50}
          error={errors?.["name"]}
        />
      </ChangeForm>
      <ChangeForm
        intent="remove-passkey"
        submit={t`Remove`}
        variant="danger"
        about={about}
        className="mt-4 mb-2 flex flex-col items-start gap-3"
      >
        {hasPassword ? <CurrentPasswordField error={errors?.["current"]} /> : null}
      </ChangeForm>
    </details>
  )
}
