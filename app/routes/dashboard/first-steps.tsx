import { Trans, useLingui } from "@lingui/react/macro"
import type { ReactNode } from "react"
import { href, useNavigation } from "react-router"
import { PlainForm } from "#app/features/operations/plain-form.tsx"
import { Button } from "#app/ui/button.tsx"
import { Icon, type IconName } from "#app/ui/icon.tsx"
import { Field } from "#app/ui/field.tsx"
import { useLive } from "#live/react"
import { accountPageOperations } from "#server/accounts/page-operations-contract.ts"
import type { FileSummary, StoredUsage } from "#server/files/contract.ts"
import { OPERATION } from "#server/operations/form-contract.ts"
import type { PlanLimits } from "#server/plans/contract.ts"
import type { Loaded } from "#live/contract"
import { userOperations } from "#server/users/operations-contract.ts"
import { StepButton, StepEnd, StepHeading } from "./onboarding-step.tsx"
import { UploadButton } from "./files/upload/upload-button.tsx"
import { UploadPanel } from "./files/upload/upload-panel.tsx"
import type { Chosen } from "./files/upload/upload.ts"
import { uploadQueue } from "./files/upload/upload-queue.ts"
import { useUploads } from "./files/upload/use-uploads.ts"
import { useUsage } from "./files/list/use-usage.ts"

/** The number of newest files to list. */
const SHOWN = 5

/** A first message and a first file. The button at the end continues without either. */
export function FirstSteps({ next, ...props }: FirstFileProps & { next: string }) {
  const { t } = useLingui()
  const { completeOnboarding } = userOperations
  return (
    <>
      <StepHeading title={t`Try it out`}>
        <Trans>Two things to start with. Both can wait: the dashboard will remind you.</Trans>
      </StepHeading>
      <div className="mt-8 grid gap-4">
        <FirstFile {...props} />
        <FirstMessage />
      </div>
      <PlainForm of={completeOnboarding} next={next} id="first-steps" />
      <StepEnd back="profile">
        <StepButton of={completeOnboarding} form="first-steps">
          <Trans>Go to the dashboard</Trans>
        </StepButton>
      </StepEnd>
    </>
  )
}

interface FirstFileProps {
  files: Loaded<FileSummary>
  usage: Loaded<StoredUsage>
  limits: PlanLimits
}

function FirstFile({ limits, ...loaded }: FirstFileProps) {
  const { t } = useLingui()
  const files = useLive(loaded.files).slice(0, SHOWN)
  const { used, quota } = useUsage(loaded.usage, limits)
  const uploads = useUploads()
  const upload = (chosen: readonly Chosen[]) =>
    uploadQueue.add(chosen, { maxSize: limits.largestFile, freeSpace: quota - used })
  return (
    <FirstStep
      icon="upload"
      title={t`Upload a file`}
      about={t`Open it from any device you're signed in on. Only you can.`}
      done={files.length > 0}
    >
      {files.length > 0 ? (
        <ul className="grid gap-1.5">
          {files.map((file) => (
            <li key={file._id} className="flex items-center gap-2 text-sm">
              <Icon name="check-circle" className="text-success" />
              <span className="min-w-0 truncate">{file.fileName}</span>
            </li>
          ))}
        </ul>
      ) : null}
      <UploadPanel uploads={uploads} onFiles={upload} />
      <UploadButton variant="secondary" onFiles={upload}>
        {files.length > 0 ? t`Upload another` : t`Upload`}
      </UploadButton>
      <PlainForm
        of={userOperations.completeOnboarding}
        next={href("/dashboard/files")}
        className="hidden noscript:block"
      >
        <Button type="submit" variant="secondary">
          <Trans>Go to your files</Trans>
        </Button>
      </PlainForm>
    </FirstStep>
  )
}

function FirstMessage() {
  const { t } = useLingui()
  const { formData } = useNavigation()
  return (
    <FirstStep
      icon="chat"
      title={t`Ask the chat something`}
      about={t`It can tell you the time and find your files by name.`}
    >
      <PlainForm
        of={accountPageOperations.askFirst}
        next={`${href("/dashboard/chat")}?question=:question`}
        className="flex items-end gap-2"
      >
        <Field
          className="flex-1"
          label={t`Your question`}
          labelHidden
          name="question"
          required
          maxLength={2000}
          autoComplete="off"
          enterKeyHint="send"
          placeholder={t`Which files do I have?`}
        />
        <Button
          type="submit"
          variant="secondary"
          pending={formData?.get(OPERATION) === accountPageOperations.askFirst.name}
        >
          <Trans>Ask</Trans>
        </Button>
      </PlainForm>
    </FirstStep>
  )
}

function FirstStep({
  icon,
  title,
  about,
  done = false,
  children,
}: {
  icon: IconName
  title: string
  about: string
  done?: boolean
  children: ReactNode
}) {
  return (
    <section aria-label={title} className="flex gap-4 rounded-lg border border-line bg-surface p-5 shadow-sm">
      <span className="grid size-10 shrink-0 place-items-center rounded-lg bg-accent-soft text-accent-ink">
        <Icon name={done ? "check" : icon} className="size-5" />
      </span>
      <div className="grid min-w-0 flex-1 gap-4">
        <div>
          <h2 className="font-medium">{title}</h2>
          <p className="text-sm text-muted">{about}</p>
        </div>
        {children}
      </div>
    </section>
  )
}
