import { dirname } from "node:path"
import { json } from "node:stream/consumers"

// npm run boundaries   checks who imports what: the rules of .dependency-cruiser.cjs, and that no
// circle of imports, types included, runs between folders. docs/architecture.md explains both.

interface Module {
  source: string
  dependencies: { resolved: string }[]
}

/** What dependency-cruiser reports. */
export interface Cruise {
  modules: Module[]
  summary: { violations: { from: string; to: string; rule: { name: string } }[] }
}

const CODE = new Set(["app", "server", "db", "live"])

/** The circles of imports between folders, each as one import for every step. */
export function findCircles(modules: readonly Module[]): string[][] {
  const steps = new Map<string, Map<string, string>>()
  for (const { source, dependencies } of modules) {
    const from = folderOf(source)
    for (const { resolved } of dependencies) {
      const to = folderOf(resolved)
      if (from === null || to === null || from === to) continue
      const known = steps.get(from) ?? new Map<string, string>()
      steps.set(from, known.set(to, known.get(to) ?? `${source} → ${resolved}`))
    }
  }
  const inCircle = new Set<string>()
  const circles: string[][] = []
  for (const folder of [...steps.keys()].toSorted()) {
    const circle = inCircle.has(folder) ? null : shortestWayBack(folder, steps)
    if (!circle) continue
    for (const [place] of circle) inCircle.add(place)
    circles.push(circle.map(([, step]) => step))
  }
  return circles
}

/** A module beside the folders, such as server/scope.ts, counts as one. */
function folderOf(path: string): string | null {
  const folder = dirname(path)
  if (CODE.has(folder)) return path
  return CODE.has(path.split("/")[0] ?? "") ? folder : null
}

type Way = [folder: string, step: string][]

function shortestWayBack(start: string, steps: ReadonlyMap<string, ReadonlyMap<string, string>>): Way | null {
  const seen = new Set<string>()
  let ways: Way[] = [[[start, ""]]]
  while (ways.length > 0) {
    const longer: Way[] = []
    for (const way of ways) {
      for (const [to, step] of steps.get(way.at(-1)?.[0] ?? "") ?? []) {
        if (to === start) return [...way.slice(1), [to, step]]
        if (seen.has(to)) continue
        seen.add(to)
        longer.push([...way, [to, step]])
      }
    }
    ways = longer
  }
  return null
}

if (import.meta.main) {
  const { modules, summary } = (await json(process.stdin)) as Cruise
  const found = [
    ...summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`),
    ...findCircles(modules).map((circle) => `no-circles-between-folders: ${circle.join(", ")}`),
  ]
  for (const line of found) console.error(line)
  console.log(`${modules.length} modules checked, ${found.length} violations.`)
  if (found.length > 0) process.exitCode = 1
}
