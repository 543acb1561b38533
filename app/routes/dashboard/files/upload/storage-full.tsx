import { Trans, useLingui } from "@lingui/react/macro"
import { Alert } from "#app/ui/alert.tsx"
import { LinkButton } from "#app/ui/button.tsx"
import type { FileUsage } from "#server/files/contract.ts"

/** Warns when there is space for no other file, and says what helps. */
export function StorageFull({
  usage: { used, quota, trashed, files, mostFiles },
  trash,
}: {
  usage: FileUsage
  /** The URL of the trash. */
  trash: string
}) {
  const { t } = useLingui()
  if (used < quota && files < mostFiles) return null
  const hasTrash = trashed > 0
  return (
    <Alert
      tone="warning"
      title={used < quota ? t`You have as many files as your plan allows` : t`Your storage is full`}
      className="mt-6"
      action={
        hasTrash ? (
          <LinkButton to={trash} variant="secondary" size="sm">
            <Trans>Open the trash</Trans>
          </LinkButton>
        ) : undefined
      }
    >
      {hasTrash
        ? t`Empty the trash or delete files to upload more.`
        : t`Delete files and empty the trash to upload more.`}
    </Alert>
  )
}
