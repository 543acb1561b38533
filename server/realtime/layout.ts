import type { Log } from "./log.ts"
import type { Describing, Relation } from "./pgoutput.ts"
import type { WatchedTable } from "./tables.ts"

/** What the catalogue said of the tables. */
export interface Inspection {
  /** A place in the log: whatever committed before it, the catalogue showed. */
  readonly at: bigint
  /**
   * What is wrong with a table, in sentences; nothing of one that has the form this server was
   * built for.
   */
  readonly problems: ReadonlyMap<WatchedTable, readonly string[]>
}

export interface Watching extends Describing {
  /** Tables that this server cannot follow as they are now. Their queries are refused. */
  readonly broken: ReadonlySet<WatchedTable>
  /**
   * Whether all that has been committed after `since` to this table is known. It is not where the
   * table had another form.
   */
  knowsSince(table: WatchedTable, since: bigint): boolean
  /** The catalogue has been asked again. */
  judge(inspection: Inspection): void
  /** These tables are absent from the publication, and only these. */
  withhold(tables: readonly WatchedTable[]): void
}

export interface LayoutOptions {
  readonly log: Log
  /**
   * What the catalogue said when the tables were prepared: that they are as this server was built
   * for.
   */
  readonly inspectedAt: bigint
  /** A table can no longer be followed, or can be followed again. */
  changed(table: WatchedTable): void
  /** Asks for another inspection: the log says what the last one did not know. */
  inspect(): void
}

/**
 * Compares each table as the log describes it with the one that this server was built for. More
 * columns than described are no matter.
 *
 * The catalogue is the judge of what a table is now. The log begins a minute ago, so it may
 * describe a table as it was before a migration: such changes are passed over, because every row
 * that is read now shows them, and a client that would resume from before them reads again.
 */
export function layOutWatched(
  watched: readonly WatchedTable[],
  { log, inspectedAt, changed, inspect }: LayoutOptions,
): Watching {
  const byName = new Map(watched.map((table) => [nameOf(table.description), table]))
  const deformed = new Set<WatchedTable>()
  const withheld = new Set<WatchedTable>()
  const broken = new Set<WatchedTable>()
  /** Where the last change committed that was passed over. */
  const passed = new Map<WatchedTable, bigint>()
  let judgedAt = inspectedAt

  return {
    broken,
    layOut(relation, at) {
      const table = byName.get(nameOf(relation))
      if (!table) return null
      const wrong = wrongColumns(table, relation)
      if (wrong.length === 0) {
        if (at >= judgedAt) repair(table)
        return { table, targets: relation.columns.map((column) => table.columns.indexOf(column.name)) }
      }
      if (at >= judgedAt) {
        deform(table, `${wrong.join(", ")} is gone, of another type, or not in its replica identity`)
        inspect()
      }
      return null
    },
    pass(relation, at) {
      const table = byName.get(nameOf(relation))
      if (table && knowsSince(table, at)) passed.set(table, at)
    },
    knowsSince,
    judge({ at, problems }) {
      judgedAt = at
      for (const table of watched) {
        const found = problems.get(table)
        if (found) deform(table, found.join(" "))
        else repair(table)
      }
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

  function knowsSince(table: WatchedTable, since: bigint): boolean {
    return since > (passed.get(table) ?? -1n)
  }

  function deform(table: WatchedTable, what: string): void {
    deformed.add(table)
    mark(table, `${table.sqlName} has changed: ${what}. Deploy the version that knows it.`)
  }

  function repair(table: WatchedTable): void {
    if (deformed.delete(table)) clear(table)
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

function wrongColumns(table: WatchedTable, relation: Relation): string[] {
  return table.columns.filter((name, index) => {
    const column = relation.columns.find((each) => each.name === name)
    return column?.type !== table.oids[index] || (table.identity.has(index) && !column?.named)
  })
}

function nameOf({ schema, name }: Pick<Relation, "schema" | "name">): string {
  return `${schema}\0${name}`
}
