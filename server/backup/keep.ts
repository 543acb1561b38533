import * as v from "valibot"

/** Which backups remain: the newest so many, or the newest of each of the last so many periods. */
export type Keep = { newest: number } | { days: number; weeks: number; months: number }

/** Such as `14`, or `7d 4w 12m`. */
export const KeepText = v.pipe(
  v.string(),
  v.regex(
    /^\s*(?:[1-9]\d{0,5}|[1-9]\d{0,3}[dwm](?:\s+[1-9]\d{0,3}[dwm])*)\s*$/,
    "must be how many backups are kept, such as 14, or for how many days, weeks and months: 7d 4w 12m.",
  ),
  v.transform(readKeep),
)

function readKeep(text: string): Keep {
  if (/^\s*\d+\s*$/.test(text)) return { newest: Number(text) }
  const of = (unit: string) => Number(new RegExp(`(\\d+)${unit}`).exec(text)?.[1] ?? 0)
  return { days: of("d"), weeks: of("w"), months: of("m") }
}

/**
 * Those of `backups`, oldest first, that remain. The newest always does. Days begin at midnight
 * UTC, weeks on Monday.
 */
export function chooseKept<Taken extends { takenAt: number }>(
  backups: readonly Taken[],
  keep: Keep,
): Taken[] {
  if ("newest" in keep) return backups.slice(-keep.newest)
  const kept = new Set(backups.slice(-1))
  for (const [periodOf, count] of [
    [dayOf, keep.days],
    [weekOf, keep.weeks],
    [monthOf, keep.months],
  ] as const) {
    const newest = new Map(backups.map((backup) => [periodOf(backup.takenAt), backup]))
    for (const backup of count === 0 ? [] : [...newest.values()].slice(-count)) kept.add(backup)
  }
  return backups.filter((backup) => kept.has(backup))
}

const DAY = 24 * 60 * 60 * 1000

function dayOf(time: number): number {
  return Math.floor(time / DAY)
}

/** 1 January 1970 was a Thursday. */
function weekOf(time: number): number {
  return Math.floor((dayOf(time) + 3) / 7)
}

function monthOf(time: number): string {
  return new Date(time).toISOString().slice(0, 7)
}
