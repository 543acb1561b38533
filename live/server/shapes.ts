import type { RowChange, Tuple, WatchedTable } from "./tables.ts"

/** A set of columns of one table by which rows are looked up, like the columns of an index. */
export interface Shape {
  readonly table: WatchedTable
  readonly columns: readonly number[]
}

/**
 * The shapes in use. There are as many as the queries have distinct `eq`s, so iterating over a
 * table's is cheap.
 */
export interface Shapes {
  of(table: WatchedTable): readonly Shape[]
  intern(table: WatchedTable, columns: readonly number[]): Shape
}

/** `added` receives every new shape before it is first used. */
export function createShapes(added: (shape: Shape) => void): Shapes {
  const shapes = new Map<WatchedTable, Shape[]>()
  return {
    of: (table) => shapes.get(table) ?? [],
    intern(table, columns) {
      const sorted = columns.toSorted((a, b) => a - b)
      const known = shapes.get(table) ?? []
      const found = known.find(
        (shape) =>
          shape.columns.length === sorted.length &&
          shape.columns.every((column, index) => column === sorted[index]),
      )
      if (found) return found
      const shape = { table, columns: sorted }
      added(shape)
      shapes.set(table, [...known, shape])
      return shape
    },
  }
}

/**
 * PostgreSQL text never contains a NUL, so joining by it keeps different keys different. Null if a
 * column is null or unknown.
 */
export function keyIn(shape: Shape, tuple: Tuple): string | null {
  let key: string | null = null
  for (const column of shape.columns) {
    const value = tuple[column]
    if (value === null || value === undefined) return null
    key = key === null ? value : `${key}\0${value}`
  }
  return key
}

/** The values that `keyIn` joined, in the order of the shape's columns. */
export function valuesIn(key: string): string[] {
  return key.split("\0")
}

/** The places of a shape that a change concerns: where the row is now, and where it was. */
export function keysTouched(shape: Shape, change: RowChange): readonly string[] {
  const now = change.row && keyIn(shape, change.row)
  const before = change.old && keyIn(shape, change.old)
  if (now !== null && before !== null && now !== before) return [before, now]
  const only = now ?? before
  return only === null ? [] : [only]
}
