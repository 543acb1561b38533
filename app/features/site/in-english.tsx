import { Trans, useLingui } from "@lingui/react/macro"
import { classNames } from "#app/ui/class-names.ts"

/**
 * Tells readers of other languages that a long text is in English only. Renders nothing for English
 * readers.
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
