import { Trans, useLingui } from "@lingui/react/macro"
import { OperationForm } from "#app/features/operations/operation-form.tsx"
import { Avatar } from "#app/ui/avatar.tsx"
import { Badge } from "#app/ui/badge.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { SelectField } from "#app/ui/select-field.tsx"
import type { Member } from "#server/spaces/contract.ts"
import { spaceOperations } from "#server/spaces/operations-contract.ts"
import { useUser } from "#app/routes/dashboard/viewer/use-user.ts"
import { useRoleNames } from "./role-names.ts"

/** Everybody in the space; its owner can change what they may do. */
export function MemberList({
  spaceId,
  members,
  isOwner,
}: {
  spaceId: string
  members: readonly Member[]
  isOwner: boolean
}) {
  const own = useUser().email
  return (
    <ul className="mt-5 divide-y divide-line rounded-lg border border-line bg-surface shadow-sm">
      {members.map((member) => (
        <MemberRow
          key={member._id}
          spaceId={spaceId}
          member={member}
          isSelf={member.memberEmail === own}
          isManaged={isOwner && member.role !== "owner"}
        />
      ))}
    </ul>
  )
}

function MemberRow({
  spaceId,
  member,
  isSelf,
  isManaged,
}: {
  spaceId: string
  member: Member
  isSelf: boolean
  isManaged: boolean
}) {
  const roles = useRoleNames()
  const { role, memberName, memberEmail, memberImageUrl } = member
  const name = memberName ?? memberEmail
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-3 px-4 py-3 sm:px-5">
      <div className="flex min-w-0 flex-1 basis-52 items-center gap-3">
        <Avatar name={name} image={memberImageUrl} />
        <div className="min-w-0">
          <p className="truncate text-sm font-medium">
            <bdi>{name}</bdi>{" "}
            {isSelf ? (
              <span className="font-normal text-faint">
                <Trans>(you)</Trans>
              </span>
            ) : null}
          </p>
          {memberName ? <p className="truncate text-sm text-muted">{memberEmail}</p> : null}
        </div>
      </div>
      {isManaged ? (
        <ManageMember spaceId={spaceId} member={member} name={name} />
      ) : (
        <Badge tone={role === "owner" ? "accent" : "neutral"}>{roles[role]}</Badge>
      )}
    </li>
  )
}

function ManageMember({ spaceId, member, name }: { spaceId: string; member: Member; name: string }) {
  const { t } = useLingui()
  const { userId, role } = member
  const about = { values: { spaceId, userId }, whom: name, size: "sm" } as const
  return (
    <>
      <OperationForm
        {...about}
        of={spaceOperations.setRole}
        submit={t`Change`}
        done={t`Role saved.`}
        savesOnChange
        className="flex flex-wrap items-center gap-2"
      >
        <RoleField key={role} label={t`Role of ${name}`} defaultValue={role} labelHidden />
      </OperationForm>
      <details className="group/more text-sm open:basis-full">
        <summary
          aria-label={t`More about ${name}`}
          title={t`Remove or make owner`}
          className="flex size-9 cursor-pointer list-none items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink touch:size-11 [&::-webkit-details-marker]:hidden"
        >
          <Icon name="more" />
        </summary>
        <ul className="mt-2 divide-y divide-line rounded-lg border border-line">
          <li className="flex flex-wrap items-center justify-between gap-3 p-4">
            <p className="min-w-0 flex-1 basis-52 text-muted">
              <Trans>
                {name} loses access to the space immediately. What {name} added stays in it.
              </Trans>
            </p>
            <OperationForm {...about} of={spaceOperations.removeMember} submit={t`Remove`} />
          </li>
          <li className="flex flex-wrap items-center justify-between gap-3 p-4">
            <p className="min-w-0 flex-1 basis-52 text-muted">
              <Trans>
                {name} will own the space, and what it stores counts for {name}. You stay a member who can
                edit.
              </Trans>
            </p>
            <OperationForm
              {...about}
              of={spaceOperations.transfer}
              submit={t`Make owner`}
              variant="danger"
              done={t`The space has a new owner.`}
            />
          </li>
        </ul>
      </details>
    </>
  )
}

/** What an invited person or a member may do. */
export function RoleField({
  label,
  defaultValue = "editor",
  labelHidden = false,
}: {
  label: string
  defaultValue?: string | undefined
  labelHidden?: boolean
}) {
  const roles = useRoleNames()
  return (
    <SelectField label={label} labelHidden={labelHidden} name="role" defaultValue={defaultValue}>
      <option value="editor">{roles.editor}</option>
      <option value="reader">{roles.reader}</option>
    </SelectField>
  )
}
