import { Trans, useLingui } from "@lingui/react/macro"
import { CopyButton } from "#app/ui/copy-button.tsx"
import { Field } from "#app/ui/field.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import type { AccountKey } from "#server/accounts/contract.ts"
import { ChangeForm } from "./change-form.tsx"
import type { Outcome } from "./outcome.ts"
import { Section } from "./section.tsx"

export function Keys({
  keys,
  now,
  outcome,
}: {
  keys: readonly AccountKey[]
  now: number
  outcome: Outcome | undefined
}) {
  const { t } = useLingui()
  return (
    <Section
      title={t`API keys`}
      about={t`A key lets a program use the chat and your files on your behalf. It can't change your account.`}
      outcome={outcome}
    >
      {outcome?.made ? <MadeKey name={outcome.made.name} value={outcome.made.key} /> : null}
      {keys.length > 0 ? (
        <ul className="mb-5 divide-y divide-line">
          {keys.map((key) => (
            <li key={key.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3 first:pt-0">
              <div className="min-w-0 flex-1">
                <p className="truncate text-sm font-medium">{key.name}</p>
                <p className="text-sm text-muted">
                  <code className="font-mono text-xs">{key.start}…</code>,{" "}
                  <Trans>
                    made <RelativeTime at={key.createdAt} now={now} />
                  </Trans>
                  ,{" "}
                  {key.usedAt ? (
                    <Trans>
                      used <RelativeTime at={key.usedAt} now={now} />
                    </Trans>
                  ) : (
                    <Trans>never used</Trans>
                  )}
                </p>
              </div>
              <ChangeForm
                intent="delete-key"
                submit={t`Delete`}
                variant="secondary"
                about={{ name: "keyId", value: key.id, label: key.name }}
              />
            </li>
          ))}
        </ul>
      ) : null}
      <ChangeForm
        key={outcome?.made?.key ?? "form"}
        intent="create-key"
        submit={t`Create key`}
        variant="secondary"
        className="flex flex-wrap items-end gap-3"
      >
        <Field
          className="min-w-60 flex-1"
          label={t`Name of the new key`}
          name="name"
          placeholder={t`backup script`}
          autoComplete="off"
          required
          maxLength={32}
          defaultValue={outcome?.errors ? outcome.values?.["name"] : undefined}
          error={outcome?.errors?.["name"]}
        />
      </ChangeForm>
    </Section>
  )
}

/** Shown once: the server keeps a hash of it. */
function MadeKey({ name, value }: { name: string; value: string }) {
  const { t } = useLingui()
  return (
    <div className="mb-5 rounded-md border border-line bg-sunken p-4">
      <p className="text-sm">
        <Trans>
          The key <strong className="font-medium">{name}</strong>. Copy it now: it won't be shown again.
        </Trans>
      </p>
      <div className="mt-2 flex items-center gap-2">
        <code className="min-w-0 flex-1 font-mono text-sm break-all">{value}</code>
        <CopyButton text={value} label={t`Copy the key`} />
      </div>
    </div>
  )
}
