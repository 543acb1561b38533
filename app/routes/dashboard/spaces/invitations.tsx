import { Plural, Trans, useLingui } from "@lingui/react/macro"
import { useLive } from "#live/react"
import { OperationForm } from "#app/features/operations/operation-form.tsx"
import { CopyButton } from "#app/ui/copy-button.tsx"
import { Field } from "#app/ui/field.tsx"
import { SelectField } from "#app/ui/select-field.tsx"
import type { Loaded } from "#live/contract"
import type { InvitationSummary } from "#server/spaces/contract.ts"
import { spaceOperations } from "#server/spaces/operations-contract.ts"
import { spacePageOperations } from "#server/spaces/page-operations-contract.ts"
import { RoleField } from "./member-list.tsx"
import { useRoleNames } from "./role-names.ts"

/** For the owner: invite by email or with a link, and the invitations that are still open. */
export function Invitations({
  spaceId,
  list,
  now,
  signup,
}: {
  spaceId: string
  list: Loaded<InvitationSummary>
  now: number
  /** Who can create an account. */
  signup: "open" | "invited" | "closed" | "sso"
}) {
  const { t } = useLingui()
  const invitations = useLive(list)
  return (
    <section aria-labelledby="invite" className="mt-5 rounded-lg border border-line bg-surface p-5 shadow-sm">
      <h2 id="invite" className="font-medium">
        <Trans>Invite people</Trans>
      </h2>
      {signup === "closed" || signup === "invited" ? (
        <p className="mt-1 text-sm text-muted">
          {signup === "closed" ? (
            <Trans>
              Sign-up is closed here: only people who have an account already can accept. The people who run
              this site create accounts.
            </Trans>
          ) : (
            <Trans>An invitation by email also lets people create an account here. A link does not.</Trans>
          )}
        </p>
      ) : null}
      <OperationForm
        of={spaceOperations.invite}
        values={{ spaceId }}
        submit={t`Send invitation`}
        variant="primary"
        done={({ emailed }) =>
          emailed
            ? t`Invited. The email is on its way.`
            : t`Invited, but not by email: too many invitations were sent to this address. Pass the link below on yourself.`
        }
        clears
        className="mt-4 flex flex-wrap items-end gap-3"
      >
        {(field, made) => (
          <>
            <Field
              {...field("email")}
              className="min-w-0 flex-1 basis-56"
              label={t`Email address`}
              type="email"
              autoComplete="off"
              required
              maxLength={254}
            />
            <RoleField label={t`They`} defaultValue={field("role").defaultValue} />
            {made?.emailed === false ? <NewLink url={made.url} /> : null}
          </>
        )}
      </OperationForm>
      <OperationForm
        of={spacePageOperations.makeLink}
        values={{ spaceId }}
        submit={t`Create link`}
        className="mt-5 flex flex-wrap items-end gap-3"
      >
        {(field, made) => (
          <>
            <RoleField label={t`Anyone with a link`} defaultValue={field("role").defaultValue} />
            <SelectField label={t`Valid for`} name="days" defaultValue={field("days", "7").defaultValue}>
              <option value="1">{t`1 day`}</option>
              <option value="7">{t`7 days`}</option>
              <option value="30">{t`30 days`}</option>
            </SelectField>
            <SelectField
              label={t`People who can use it`}
              name="uses"
              defaultValue={field("uses", "10").defaultValue}
            >
              <option value="1">{t`1 person`}</option>
              <option value="10">{t`10 people`}</option>
              <option value="100">{t`100 people`}</option>
              <option value="any">{t`Any number`}</option>
            </SelectField>
            {made ? <NewLink url={made.url} /> : null}
          </>
        )}
      </OperationForm>
      {invitations.length > 0 ? (
        <ul className="mt-5 divide-y divide-line border-t border-line">
          {invitations.map((invitation) => (
            <InvitationRow key={invitation._id} invitation={invitation} now={now} />
          ))}
        </ul>
      ) : null}
    </section>
  )
}

function NewLink({ url }: { url: string }) {
  const { t } = useLingui()
  return (
    <div
      role="status"
      className="order-last basis-full rounded-md border border-accent-line bg-accent-soft p-3"
    >
      <p className="text-sm font-medium">
        <Trans>Copy the link now: it isn't shown again.</Trans>
      </p>
      <p className="mt-1 flex items-center gap-2">
        <code className="min-w-0 flex-1 font-mono text-xs wrap-anywhere select-all">{url}</code>
        <CopyButton text={url} label={t`Copy the link`} />
      </p>
    </div>
  )
}

function InvitationRow({ invitation, now }: { invitation: InvitationSummary; now: number }) {
  const { t, i18n } = useLingui()
  const roles = useRoleNames()
  const { _id, email, role, hint, expiresAt, maxUses, uses } = invitation
  const title = email || t`Link ending in ${hint}`
  const end = i18n.date(new Date(expiresAt), { dateStyle: "medium", timeZone: "UTC" })
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
      <div className="min-w-0 flex-1 basis-52">
        <p className="truncate text-sm font-medium">{title}</p>
        <p className="text-sm text-muted">
          {roles[role]}
          {", "}
          {expiresAt <= now ? t`expired` : t`valid until ${end}`}
          {email ? null : (
            <>
              {", "}
              {maxUses === null ? (
                <Plural value={uses} _0="not used yet" one="used once" other="used # times" />
              ) : (
                t`used ${uses} of ${maxUses} times`
              )}
            </>
          )}
        </p>
      </div>
      <OperationForm
        of={spaceOperations.revokeInvitation}
        values={{ invitationId: _id }}
        submit={t`Revoke`}
        size="sm"
        whom={title}
      />
    </li>
  )
}
