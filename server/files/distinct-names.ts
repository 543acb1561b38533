import { numberedName, seriesOf } from "./names.ts"

/**
 * Gives each name of an archive once, so that it can be unpacked on every system: without the
 * characters that Windows refuses, and with a number where names differ in case alone. The next
 * number is remembered, because a folder may hold thousands of one name.
 */
export function distinctNames(): (name: string) => string {
  const taken = new Set<string>()
  const next = new Map<string, number>()
  return (original) => {
    const name = original.replace(REFUSED_BY_WINDOWS, "_")
    const distinct = taken.has(name.toLowerCase()) ? numbered(name) : name
    taken.add(distinct.toLowerCase())
    return distinct
  }

  function numbered(name: string): string {
    const series = seriesOf(name).toLowerCase()
    let number = next.get(series) ?? 1
    let distinct: string
    do distinct = numberedName(name, number++)
    while (taken.has(distinct.toLowerCase()))
    next.set(series, number)
    return distinct
  }
}

const REFUSED_BY_WINDOWS = /[<>:"|?*]/g
