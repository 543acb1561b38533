import { plural } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { ExpiryField } from "#app/features/links/link-fields.tsx"
import { ShareDialog, type Shared } from "#app/routes/dashboard/links/share-dialog.tsx"
import { SelectField } from "#app/ui/select-field.tsx"
import type { ThreadShareSummary, ThreadSummary } from "#server/chat/contract.ts"
import { threadShareOperations } from "#server/chat/shares-contract.ts"

interface ShareThreadDialogProps {
  thread: Pick<ThreadSummary, "_id" | "title">
  onClose: () => void
}

export function ShareThreadDialog({ thread: { _id: threadId, title }, onClose }: ShareThreadDialogProps) {
  const { t } = useLingui()
  const shared: Shared<ThreadShareSummary> = {
    title: t`Share “${title}”`,
    description: t`Anyone with the link can read this conversation without an account. Attached files aren't shared, only their names.`,
    heading: (count) =>
      t`${plural(count, { one: "# link to this conversation", other: "# links to this conversation" })}`,
    operations: threadShareOperations,
    of: { threadId },
    fields: (
      <div className="grid gap-4 sm:grid-cols-[3fr_2fr]">
        <SelectField label={t`Visitors see`} name="shows" defaultValue="live">
          <option value="live">{t`All messages, including new ones`}</option>
          <option value="copy">{t`The messages so far`}</option>
        </SelectField>
        <ExpiryField />
      </div>
    ),
    read: (form) => ({ shows: form.get("shows") }),
    describe: ({ shows }) => ({ about: shows === "live" ? t`live` : t`as it was` }),
  }
  return <ShareDialog shared={shared} onClose={onClose} />
}
