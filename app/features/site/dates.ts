const long = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" })

/** `2026-11-20` as `20 November 2026`. */
export function formatDay(day: string): string {
  return long.format(new Date(`${day}T00:00:00Z`))
}
