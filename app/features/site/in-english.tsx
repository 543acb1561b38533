import { Trans, useLingui } from "@lingui/react/macro"
import { classNames } from "#app/ui/class-names.ts"

/**
 * Says, in the reader's language, that a long text is in English only. English readers are told
 * nothing.
 */
export function InEnglish({ className }: { className?: string }) {
  const { i18n } = useLingui()
  if (i18n.locale === "en") return null
  return (
    <p className={classNames("text-sm text-faint", className)}>
      <Trans>This text is available in English only.</Trans>
    </p>
  )
}
