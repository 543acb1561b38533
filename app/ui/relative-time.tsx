import type { I18n } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { useLingui } from "@lingui/react"

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/**
 * The time since `at`, or the date if that is more than a week. Both are milliseconds since the
 * epoch; `now` is the server's time.
 */
export function RelativeTime({
  at,
  now,
  className,
}: {
  at: number
  now: number
  className?: string | undefined
}) {
  const { i18n } = useLingui()
  return (
    <time dateTime={new Date(at).toISOString()} className={className}>
      {describe(now - at, at, i18n)}
    </time>
  )
}

function describe(age: number, at: number, i18n: I18n): string {
  if (age < MINUTE) return i18n._(msg`just now`)
  const { words, days } = formatsFor(String(i18n.locales))
  if (age < HOUR) return words.format(-Math.floor(age / MINUTE), "minute")
  if (age < DAY) return words.format(-Math.floor(age / HOUR), "hour")
  if (age < 7 * DAY) return words.format(-Math.floor(age / DAY), "day")
  return days.format(at)
}

function formatsFor(locale: string) {
  const known = formatsByLocale.get(locale)
  if (known) return known
  const made = {
    words: new Intl.RelativeTimeFormat(locale, { numeric: "auto" }),
    days: new Intl.DateTimeFormat(locale, {
      day: "numeric",
      month: "short",
      year: "numeric",
      timeZone: "UTC",
    }),
  }
  formatsByLocale.set(locale, made)
  return made
}

const formatsByLocale = new Map<string, { words: Intl.RelativeTimeFormat; days: Intl.DateTimeFormat }>()
