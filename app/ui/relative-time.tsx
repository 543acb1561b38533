const words = new Intl.RelativeTimeFormat("en-GB", { numeric: "auto" })
const days = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC",
})

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long before `now` it was; a date after a week. Both are milliseconds since the epoch, `now` as the server read it. */
export function RelativeTime({
  at,
  now,
  className,
}: {
  at: number
  now: number
  className?: string | undefined
}) {
  return (
    <time dateTime={new Date(at).toISOString()} className={className}>
      {describe(now - at, at)}
    </time>
  )
}

function describe(age: number, at: number): string {
  if (age < MINUTE) return "just now"
  if (age < HOUR) return words.format(-Math.floor(age / MINUTE), "minute")
  if (age < DAY) return words.format(-Math.floor(age / HOUR), "hour")
  if (age < 7 * DAY) return words.format(-Math.floor(age / DAY), "day")
  return days.format(at)
}
