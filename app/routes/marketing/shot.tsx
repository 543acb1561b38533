import type { MessageDescriptor } from "@lingui/core"
import { useLingui } from "@lingui/react/macro"
import { classNames } from "#app/ui/class-names.ts"

/**
 * One screenshot in the page's colour scheme. The browser fetches only the shown variant, and
 * lazily.
 */
export function Shot({
  light,
  dark,
  size: [width, height],
  alt,
  className,
}: {
  light: string
  dark: string
  /** Points, not pixels. */
  size: [width: number, height: number]
  alt: MessageDescriptor
  className?: string
}) {
  const { t } = useLingui()
  const look = classNames("h-auto w-full border border-line-strong bg-surface shadow-lg", className)
  const picture = { width, height, loading: "lazy", decoding: "async" } as const
  return (
    <>
      <img src={light} alt={t(alt)} {...picture} className={classNames(look, "dark:hidden")} />
      <img src={dark} alt={t(alt)} {...picture} className={classNames(look, "hidden dark:block")} />
    </>
  )
}
