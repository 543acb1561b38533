import type { Keep } from "#server/backup-settings.ts"

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
