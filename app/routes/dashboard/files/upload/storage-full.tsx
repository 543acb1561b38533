import { Trans, useLingui } from "@lingui/react/macro"
import { Alert } from "#app/ui/alert.tsx"
import { LinkButton } from "#app/ui/button.tsx"
import type { FileUsage } from "#server/files/contract.ts"

/** Warns when the storage is full, and says what helps. */
export function StorageFull({
  usage: { used, quota, trashed },
  trash,
}: {
  usage: FileUsage
  /** The URL of the trash. */
  trash: string
}) {
  const { t } = useLingui()
  if (used < quota) return null
  const hasTrash = trashed > 0
  return (
    <Alert
      tone="warning"
      title={t`Your storage is full`}
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
