import type { Log } from "./log.ts"
import type { Describing, Relation } from "./pgoutput.ts"
import type { WatchedTable } from "./tables.ts"

/** The state of the tables according to the catalogue. */
export interface Inspection {
  /** A place in the log: the catalogue showed everything that committed before it. */
  readonly at: bigint
  /**
   * What is wrong with each table, in sentences. Tables in the form that this server was built for
   * are absent.
   */
  readonly problems: ReadonlyMap<WatchedTable, readonly string[]>
}

export interface Watching extends Describing {
  /** Tables that this server cannot follow as they are now. Their queries are refused. */
  readonly broken: ReadonlySet<WatchedTable>
  /**
   * Whether all changes to this table committed after `since` are known. They are not if the table
   * had another form.
   */
  knowsSince(table: WatchedTable, since: bigint): boolean
  /** Called when the catalogue has been read again. */
  judge(inspection: Inspection): void
  /** These tables are absent from the publication, and only these. */
  withhold(tables: readonly WatchedTable[]): void
}

export interface LayoutOptions {
  readonly log: Log
  /**
   * The catalogue's state when the tables were prepared, which is the form that this server was
   * built for.
   */
  readonly inspectedAt: bigint
  /** Called when a table can no longer be followed, or can be followed again. */
  changed(table: WatchedTable): void
  /** Requests another inspection: the log describes something that the last one did not see. */
  inspect(): void
}

/**
 * Compares each table as the log describes it with the one that this server was built for.
 * Additional columns do not matter.
 *
 * The catalogue is authoritative for a table's current form. The log begins a minute ago, so it may
 * describe a table as it was before a migration: such changes are skipped, because every row that
 * is read now shows them, and a client that would resume from before them reads again.
 */
export function layOutWatched(
  watched: readonly WatchedTable[],
  { log, inspectedAt, changed, inspect }: LayoutOptions,
): Watching {
  const byName = new Map(watched.map((table) => [nameOf(table.description), table]))
  const deformed = new Set<WatchedTable>()
  const withheld = new Set<WatchedTable>()
  const broken = new Set<WatchedTable>()
  /** The commit position of the last skipped change. */
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
