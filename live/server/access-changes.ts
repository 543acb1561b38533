import type { DependencyPlace } from "./client.ts"
import { affects } from "./resume.ts"
import type { Ring } from "./ring.ts"
import { keyIn, keysTouched } from "./shapes.ts"
import type { RowChange } from "./tables.ts"
import type { Transaction } from "./transactions.ts"

/** Whether a change of a row at a dependency requires authorization again. */
export function concernsAccess({ shape, key, on }: DependencyPlace, change: RowChange): boolean {
  if (on === "change") return true
  if (change.inserted || change.row === null || keyIn(shape, change.row) !== key) return true
  return change.old !== null && keyIn(shape, change.old) !== key
}

/**
 * Whether access may have ended and come back between two positions. One commit cannot do both:
 * anyone who has access after it had it all the time.
 */
export function mayHaveLapsed(
  ring: Ring,
  dependencies: readonly DependencyPlace[],
  since: bigint,
  position: bigint,
): boolean {
  if (dependencies.length === 0) return false
  const isSwept = (each: Transaction) =>
    each.end <= position && dependencies.some((place) => affects(each, place))
  if (ring.sweeping(since).some(isSwept)) return true
  const commits = new Set<bigint>()
  for (const dependency of dependencies) {
    for (const transaction of ring.touching(dependency.shape, dependency.key, since)) {
      if (transaction.end > position) break
      if (transaction.changes.some((change) => concerns(dependency, change))) commits.add(transaction.end)
    }
  }
  return commits.size > 1
}

function concerns(dependency: DependencyPlace, change: RowChange): boolean {
  const { shape, key } = dependency
  if (change.table !== shape.table || !keysTouched(shape, change).includes(key)) return false
  return concernsAccess(dependency, change)
}
