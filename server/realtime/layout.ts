import type { Log } from "./log.ts"
import type { Layout, Relation } from "./pgoutput.ts"
import type { WatchedTable } from "./tables.ts"

export interface Watching {
  layOut(relation: Relation): Layout | null
  /** Tables that this server cannot follow as they are now. Their queries are refused. */
  readonly broken: ReadonlySet<WatchedTable>
  /** These tables are absent from the publication, and only these. */
  withhold(tables: readonly WatchedTable[]): void
}

/** Compares each table as the log describes it with the one that this server was built for. More columns than described are no matter. */
export function layOutWatched(
  watched: readonly WatchedTable[],
  { log, changed }: { log: Log; changed(table: WatchedTable): void },
): Watching {
  const byName = new Map(watched.map((table) => [nameOf(table.description), table]))
  const deformed = new Set<WatchedTable>()
  const withheld = new Set<WatchedTable>()
  const broken = new Set<WatchedTable>()

  return {
    broken,
    layOut(relation) {
      const table = byName.get(nameOf(relation))
      if (!table) return null
      const wrong = table.columns.filter(
        (name, index) => relation.columns.find((column) => column.name === name)?.type !== table.oids[index],
      )
      if (wrong.length > 0) {
        deformed.add(table)
        mark(
          table,
          `${table.sqlName} has changed: ${wrong.join(", ")} is gone or of another type. Deploy the version that knows it.`,
        )
        return null
      }
      deformed.delete(table)
      clear(table)
      const targets = relation.columns.map((column) => table.columns.indexOf(column.name))
      return { table, targets }
    },
    withhold(tables) {
      for (const table of withheld) {
        if (tables.includes(table)) continue
        withheld.delete(table)
        clear(table)
        changed(table)
      }
      for (const table of tables) {
        withheld.add(table)
        mark(table, `${table.sqlName} is not in the publication, so its changes are not seen. Add it again.`)
      }
    },
  }

  function mark(table: WatchedTable, message: string): void {
    if (broken.has(table)) return
    broken.add(table)
    log.error({ table: table.sqlName }, message)
    changed(table)
  }

  function clear(table: WatchedTable): void {
    if (!deformed.has(table) && !withheld.has(table)) broken.delete(table)
  }
}

function nameOf({ schema, name }: { schema: string; name: string }): string {
  return `${schema}\0${name}`
}
