import { Trans, useLingui } from "@lingui/react/macro"
import { Checkbox } from "#app/ui/checkbox.tsx"
import { useFormats } from "#app/language/formats.ts"
import { CopyButton } from "#app/ui/copy-button.tsx"
import { Field } from "#app/ui/field.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import { SelectField } from "#app/ui/select-field.tsx"
import { KEY_LIVES, KEY_SCOPES, type AccountKey, type KeyScope } from "#server/accounts/contract.ts"
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
  const names: Record<KeyScope, string> = {
    "files:read": t`Read files`,
    "files:write": t`Change and delete files`,
    chat: t`Use the chat`,
    email: t`Send email`,
    spaces: t`Manage spaces`,
  }
  const lives: Record<(typeof KEY_LIVES)[number], string> = {
    "30": t`In 30 days`,
    "90": t`In 90 days`,
    "365": t`In a year`,
    never: t`Never`,
  }
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
                    created <RelativeTime at={key.createdAt} now={now} />
                  </Trans>
                  , <LastUse usedAt={key.usedAt} usedFrom={key.usedFrom} now={now} />
                </p>
                <p className="text-sm text-muted">
                  {key.scopes ? key.scopes.map((scope) => names[scope]).join(" · ") : t`Everything`}
                  {" · "}
                  <Expiry at={key.expiresAt} now={now} />
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
        className="flex flex-col items-start gap-4"
      >
        <Field
          className="w-full"
          label={t`Name of the new key`}
          name="name"
          placeholder={t`backup script`}
          autoComplete="off"
          required
          maxLength={32}
          defaultValue={outcome?.errors ? outcome.values?.["name"] : undefined}
          error={outcome?.errors?.["name"]}
        />
        <fieldset className="flex w-full flex-col gap-3">
          <legend className="mb-2 text-sm font-medium">
            <Trans>Permissions</Trans>
          </legend>
          <div className="grid gap-3 sm:grid-cols-2">
            {KEY_SCOPES.map((scope) => (
              <Checkbox
                key={scope}
                name={scope}
                label={names[scope]}
                hint={scope === "chat" ? t`Replies can use what your files say.` : undefined}
                defaultChecked={outcome?.errors ? outcome.values?.[scope] === "on" : scope === "files:read"}
              />
            ))}
          </div>
        </fieldset>
        <SelectField
          className="w-full sm:w-60"
          label={t`Expiry`}
          name="days"
          defaultValue={outcome?.errors ? outcome.values?.["days"] : undefined}
        >
          {KEY_LIVES.map((days) => (
            <option key={days} value={days}>
              {lives[days]}
            </option>
          ))}
        </SelectField>
      </ChangeForm>
    </Section>
  )
}

function LastUse({ usedAt, usedFrom, now }: Pick<AccountKey, "usedAt" | "usedFrom"> & { now: number }) {
  if (usedAt === null) return <Trans>never used</Trans>
  if (usedFrom === null)
    return (
      <Trans>
        used <RelativeTime at={usedAt} now={now} />
      </Trans>
    )
  return (
    <Trans>
      used <RelativeTime at={usedAt} now={now} /> from {usedFrom}
    </Trans>
  )
}

function Expiry({ at, now }: { at: number | null; now: number }) {
  const formats = useFormats()
  if (at === null) return <Trans>does not expire</Trans>
  const day = formats.date(at, { dateStyle: "medium" })
  return at <= now ? <Trans>expired on {day}</Trans> : <Trans>expires on {day}</Trans>
}

/** Shown once: the server stores only a hash of it. */
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
