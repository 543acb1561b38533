import { useFormats } from "#app/language/formats.ts"

/** Formats `2026-11-20` as `20 November 2026`. */
export function useDayFormat(): (day: string) => string {
  const formats = useFormats()
  return (day) => formats.date(Date.parse(`${day}T00:00:00Z`), LONG)
}

const LONG = { dateStyle: "long", timeZone: "UTC" } satisfies Intl.DateTimeFormatOptions
