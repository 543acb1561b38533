import { BOUNDS, type Distribution, type Measured } from "#live/open"

/** Counters whose name ends with a reason, which becomes a label. */
const BY_REASON = /^(refused|goodbyes|resets)_(.+)$/

/** The realtime layer's own counters, in Prometheus' text format 0.0.4. */
export function describeRealtime(measured: readonly Measured[]): string {
  const families = new Map<string, string[]>()
  for (const each of measured) {
    const { type, name, lines } = describeMeasured(each)
    const family = families.get(name) ?? [`# TYPE ${name} ${type}`]
    families.set(name, [...family, ...lines])
  }
  return `${[...families.values()].flat().join("\n")}\n`
}

function describeMeasured({ kind, name, value }: Measured) {
  if (kind === "distribution") return describeDistribution(name, value)
  const [, group, reason] = BY_REASON.exec(name) ?? []
  const full = `tideline_realtime_${group ?? name}${kind === "counter" ? "_total" : ""}`
  return { type: kind, name: full, lines: [`${full}${reason ? `{reason="${reason}"}` : ""} ${value}`] }
}

function describeDistribution(name: string, { count, sum, buckets }: Distribution) {
  const full = `tideline_realtime_${name.replace(/_ms$/, "_seconds")}`
  let below = 0
  const steps = BOUNDS.map((bound, index) => {
    below += buckets[index] ?? 0
    return `${full}_bucket{le="${bound / 1000}"} ${below}`
  })
  const lines = [
    ...steps,
    `${full}_bucket{le="+Inf"} ${count}`,
    `${full}_sum ${sum / 1000}`,
    `${full}_count ${count}`,
  ]
  return { type: "histogram", name: full, lines }
}
