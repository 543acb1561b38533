import type { MessageDescriptor } from "@lingui/core"
import { useLingui } from "@lingui/react/macro"
import { Spinner } from "#app/ui/spinner.tsx"

/** What stands there until Clerk's own form does, which brings a heading of its own. */
export function ClerkLoading({ title, label }: { title: MessageDescriptor; label: MessageDescriptor }) {
  const { t } = useLingui()
  return (
    <>
      <h1 className="mb-6 text-2xl font-semibold">{t(title)}</h1>
      <Spinner label={t(label)} />
    </>
  )
}
