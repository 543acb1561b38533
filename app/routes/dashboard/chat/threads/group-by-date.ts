import type { I18n, MessageDescriptor } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { formatsOf } from "#app/language/formats.ts"
import type { ThreadSummary } from "#server/chat/contract.ts"

const DAY = 24 * 60 * 60 * 1000

const MONTHS: Intl.DateTimeFormatOptions = { month: "long", year: "numeric" }
const MONTHS_IN_UTC: Intl.DateTimeFormatOptions = { ...MONTHS, timeZone: "UTC" }

/**
 * Threads come with the last used first, so the groups do too. `timeZone` defaults to the reader's
 * own.
 */
export function groupByDate(
  threads: readonly ThreadSummary[],
  now: number,
  timeZone: "UTC" | undefined,
  i18n: I18n,
) {
  const month = (moment: number) => formatsOf(i18n).date(moment, timeZone ? MONTHS_IN_UTC : MONTHS)
  const groups = Map.groupBy(
    threads,
    ({ lastMessageAt }) => describeDay(lastMessageAt, now, timeZone) ?? month(lastMessageAt),
  )
  return [...groups].map(([day, group]) => ({
    label: typeof day === "string" ? day : i18n._(day),
    threads: group,
  }))
}

const TODAY = msg`Today`
const YESTERDAY = msg`Yesterday`
const LAST_WEEK = msg`Last 7 days`
const LAST_MONTH = msg`Last 30 days`

/** Null for anything older. */
function describeDay(moment: number, now: number, timeZone: "UTC" | undefined): MessageDescriptor | null {
  const days = dayOf(now, timeZone) - dayOf(moment, timeZone)
  if (days <= 0) return TODAY
  if (days === 1) return YESTERDAY
  if (days < 7) return LAST_WEEK
  return days < 30 ? LAST_MONTH : null
}

/** Calendar days since 1970. */
function dayOf(moment: number, timeZone: "UTC" | undefined): number {
  const local = timeZone ? 0 : new Date(moment).getTimezoneOffset() * 60_000
  return Math.floor((moment - local) / DAY)
}
