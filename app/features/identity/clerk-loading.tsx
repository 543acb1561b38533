import type { MessageDescriptor } from "@lingui/core"
import { useLingui } from "@lingui/react/macro"
import { Spinner } from "#app/ui/spinner.tsx"

/** A placeholder until Clerk's own form has loaded, which has its own heading. */
export function ClerkLoading({ title, label }: { title: MessageDescriptor; label: MessageDescriptor }) {
  const { t } = useLingui()
  return (
    <>
      <h1 className="mb-6 text-2xl font-semibold">{t(title)}</h1>
      <Spinner label={t(label)} />
    </>
  )
}
