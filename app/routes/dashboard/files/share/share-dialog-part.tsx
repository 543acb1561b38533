import { plural } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { ExpiryField } from "#app/features/links/link-fields.tsx"
import { ShareDialog, type Shared } from "#app/routes/dashboard/links/share-dialog.tsx"
import { Field } from "#app/ui/field.tsx"
import type { FileSummary, ShareSummary } from "#server/files/contract.ts"
import { fileShareOperations } from "#server/files/shares-contract.ts"

export function ShareFileDialog({ file, onClose }: { file: FileSummary; onClose: () => void }) {
  const { t } = useLingui()
  const { fileName, _id: fileId } = file
  const shared: Shared<ShareSummary> = {
    title: t`Share ${fileName}`,
    description: t`Anyone with the link can see and download this file without an account.`,
    heading: (count) => t`${plural(count, { one: "# link to this file", other: "# links to this file" })}`,
    operations: fileShareOperations,
    of: { fileId },
    fields: (
      <div className="grid gap-4 sm:grid-cols-2">
        <ExpiryField />
        <Field
          label={t`Download limit`}
          name="maxDownloads"
          type="number"
          inputMode="numeric"
          min={1}
          max={1_000_000}
          step={1}
          placeholder={t`No limit`}
        />
      </div>
    ),
    read(form) {
      const downloads = Number(form.get("maxDownloads"))
      return { maxDownloads: downloads > 0 ? downloads : null }
    },
    describe: ({ downloads, maxDownloads }) => ({
      about:
        maxDownloads === null
          ? t`${plural(downloads, { one: "# download", other: "# downloads" })}`
          : t`${downloads} of ${maxDownloads} downloads`,
      isUsedUp: maxDownloads !== null && downloads >= maxDownloads,
    }),
  }
  return <ShareDialog shared={shared} onClose={onClose} />
}
