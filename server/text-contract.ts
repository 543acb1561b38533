import * as v from "valibot"
import { reason } from "#server/reason-contract.ts"

/**
 * PostgreSQL cannot store NUL, and names and titles need no line breaks or other control
 * characters.
 */
export const withoutControlCharacters = v.check(
  (text: string) => !/\p{Cc}/u.test(text),
  reason("control-characters"),
)

/** Of a field with which people prove who they are, so that no page shows it again. */
export const secret = v.metadata<string, { isSecret: true }>({ isSecret: true })

export const Email = v.pipe(
  v.string(reason("email-missing")),
  v.trim(),
  v.nonEmpty(reason("email-missing")),
  v.maxLength(254, reason("email-too-long")),
  v.email(reason("email-malformed")),
)

/** `1.5 MB`, in powers of 1000. The locale decides between a decimal point and a comma. */
export function formatBytes(bytes: number, locale = "en-GB"): string {
  if (bytes < 1000) return `${bytes} B`
  const units = ["kB", "MB", "GB", "TB", "PB"]
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), units.length)
  const amount = bytes / 1000 ** power
  const rounded = amount < 99.95 ? Number(amount.toFixed(1)) : Math.round(amount)
  return `${amounts(locale).format(rounded)} ${units[power - 1]}`
}

/** Creating a formatter takes a hundred times as long as using it. */
function amounts(locale: string): Intl.NumberFormat {
  const known = formats.get(locale)
  if (known) return known
  const made = new Intl.NumberFormat(locale, { useGrouping: false })
  formats.set(locale, made)
  return made
}

const formats = new Map<string, Intl.NumberFormat>()
