import type { ThreadSummary } from "#server/chat/contract.ts"

const DAY = 24 * 60 * 60 * 1000

/** Threads come with the last used first, so the groups do too. `timeZone` is the reader's own where it is left out. */
export function groupByDate(threads: readonly ThreadSummary[], now: number, timeZone: string | undefined) {
  const groups = Map.groupBy(threads, ({ lastMessageAt }) => describeDay(lastMessageAt, now, timeZone))
  return [...groups].map(([label, group]) => ({ label, threads: group }))
}

function describeDay(moment: number, now: number, timeZone: string | undefined): string {
  const date = (time: number) => new Intl.DateTimeFormat("en-CA", { timeZone }).format(time)
  const days = Math.round((Date.parse(date(now)) - Date.parse(date(moment))) / DAY)
  if (days <= 0) return "Today"
  if (days === 1) return "Yesterday"
  if (days < 7) return "Last 7 days"
  if (days < 30) return "Last 30 days"
  return new Intl.DateTimeFormat("en-GB", { timeZone, month: "long", year: "numeric" }).format(moment)
}
