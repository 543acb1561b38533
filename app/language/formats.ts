import type { I18n } from "@lingui/core"
import { useLingui } from "@lingui/react"
import { formatBytes } from "#server/text-contract.ts"

/** Formats dates, numbers and sizes in the page's language. */
export interface Formats {
  /** `12,345`. */
  number: (value: number) => string
  /** `1.5 MB`. */
  bytes: (value: number) => string
  /**
   * `moment`: milliseconds since the epoch. Pass a constant as `options`: one formatter is created
   * per object.
   */
  date: (moment: number, options: Intl.DateTimeFormatOptions) => string
}

export function useFormats(): Formats {
  return formatsOf(useLingui().i18n)
}

/** For functions that are not components. */
export function formatsOf(i18n: Pick<I18n, "locales">): Formats {
  const locale = String(i18n.locales)
  const known = formatsByLocale.get(locale)
  if (known) return known
  const made = makeFormats(locale)
  formatsByLocale.set(locale, made)
  return made
}

const formatsByLocale = new Map<string, Formats>()

function makeFormats(locale: string): Formats {
  let numbers: Intl.NumberFormat | undefined
  const dates = new WeakMap<Intl.DateTimeFormatOptions, Intl.DateTimeFormat>()
  return {
    number: (value) => (numbers ??= new Intl.NumberFormat(locale)).format(value),
    bytes: (value) => formatBytes(value, locale),
    date(moment, options) {
      const format = dates.get(options) ?? new Intl.DateTimeFormat(locale, options)
      dates.set(options, format)
      return format.format(moment)
    },
  }
}
