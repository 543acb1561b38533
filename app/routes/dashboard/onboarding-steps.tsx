import { Trans, useLingui } from "@lingui/react/macro"
import { useEffect, useRef, useState, type ReactNode } from "react"
import { href, useActionData } from "react-router"
import { PlainForm } from "#app/features/operations/plain-form.tsx"
import { useSentences } from "#app/language/sentences.ts"
import { Alert } from "#app/ui/alert.tsx"
import { Avatar } from "#app/ui/avatar.tsx"
import { Button } from "#app/ui/button.tsx"
import { Field } from "#app/ui/field.tsx"
import { Icon, type IconName } from "#app/ui/icon.tsx"
import { accountPageOperations } from "#server/accounts/page-operations-contract.ts"
import type { FormOutcome } from "#server/operations/form-contract.ts"
import type { UserRecord } from "#server/users/contract.ts"
import { PictureField } from "./account/picture-field.tsx"
import { StepButton, StepEnd, StepHeading } from "./onboarding-step.tsx"

export function WelcomeStep({ user }: { user: UserRecord }) {
  const { t } = useLingui()
  const { finishWelcome } = accountPageOperations
  const name = firstName(user)
  return (
    <>
      <StepHeading title={name ? t`Welcome aboard, ${name}` : t`Welcome aboard`}>
        {name ? (
          <Trans>Your account is ready. One short step and you're on your dashboard.</Trans>
        ) : (
          <Trans>Your account is ready. Two short steps and you're on your dashboard.</Trans>
        )}
      </StepHeading>
      <ul className="mt-8 space-y-5">
        <Benefit icon="chat" title={t`A chat that keeps its place`}>
          <Trans>
            Close the tab in the middle of a reply: it continues, and it's complete when you come back.
          </Trans>
        </Benefit>
        <Benefit icon="folder" title={t`Files where you need them`}>
          <Trans>Large uploads resume after a lost connection, and only you can open your files.</Trans>
        </Benefit>
        <Benefit icon="bolt" title={t`Everything live`}>
          <Trans>A change on one of your devices shows on the others immediately.</Trans>
        </Benefit>
      </ul>
      <PlainForm of={finishWelcome} next={href("/onboarding")} className="mt-10">
        <StepButton of={finishWelcome}>
          <Trans>Get started</Trans>
        </StepButton>
      </PlainForm>
    </>
  )
}

export function ProfileStep({
  user,
  canChoosePicture,
}: {
  user: UserRecord
  /** False if the identity provider stores it. */
  canChoosePicture: boolean
}) {
  const { t } = useLingui()
  const say = useSentences()
  const { finishProfile, removePicture } = accountPageOperations
  const { errors = {}, filled } = useActionData<FormOutcome>() ?? {}
  const { form: problem, name: wrongName } = errors
  const wrongPicture = errors["picture"] ?? (problem?.reason === "picture-unreadable" ? problem : undefined)
  const [name, setName] = useState(filled?.["name"] ?? user.name ?? "")
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (wrongName) input.current?.focus()
  }, [wrongName])

  return (
    <>
      <StepHeading title={t`What should we call you?`}>
        <Trans>We use this name on the dashboard and in emails.</Trans>
      </StepHeading>
      {problem && !wrongPicture ? <Alert tone="danger" title={say(problem)} className="mt-6" /> : null}
      <PlainForm
        of={finishProfile}
        next={href("/onboarding")}
        id="profile"
        encType="multipart/form-data"
        className="mt-8"
      >
        <div className="rounded-lg border border-line bg-surface p-4 shadow-sm">
          <div className="flex items-center gap-4">
            {canChoosePicture ? null : <Avatar name={name} image={user.imageUrl} className="size-12" />}
            <div className="min-w-0">
              <p className="truncate font-medium">{name.trim() || t`Your name`}</p>
              <p className="truncate text-sm text-muted">{user.email}</p>
            </div>
          </div>
          {canChoosePicture ? (
            <div className="mt-4 border-t border-line pt-4">
              <PictureField name={name} image={user.imageUrl} error={say(wrongPicture)} />
              {user.imageUrl ? (
                <Button type="submit" variant="secondary" size="sm" form="remove-picture" className="mt-3">
                  <Trans>Remove picture</Trans>
                </Button>
              ) : null}
            </div>
          ) : null}
        </div>
        <Field
          ref={input}
          className="mt-6"
          label={t`Name`}
          name="name"
          autoComplete="name"
          required
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={say(wrongName)}
        />
      </PlainForm>
      <PlainForm of={removePicture} next={href("/onboarding")} id="remove-picture" />
      <StepEnd back="welcome">
        <StepButton of={finishProfile} form="profile">
          <Trans>Continue</Trans>
        </StepButton>
      </StepEnd>
    </>
  )
}

function Benefit({ icon, title, children }: { icon: IconName; title: string; children: ReactNode }) {
  return (
    <li className="flex gap-4">
      <span className="grid size-10 shrink-0 place-items-center rounded-lg border border-line bg-surface text-accent-ink shadow-sm">
        <Icon name={icon} className="size-5" />
      </span>
      <div>
        <h2 className="font-medium">{title}</h2>
        <p className="text-muted">{children}</p>
      </div>
    </li>
  )
}

function firstName(user: UserRecord): string | undefined {
  return user.name?.trim().split(/\s+/)[0] || undefined
}
