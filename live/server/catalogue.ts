import * as v from "valibot"

import type { SubscribeItem } from "../protocol/contract.ts"
import type { LiveQuery, Table } from "./live-query.ts"
import { preparePlace, prepareRange, type Range } from "./range.ts"
import { createRefusal, Refused, unstorable } from "./refusal.ts"
import type { Shapes } from "./shapes.ts"
import { isStorable } from "../protocol/storable-contract.ts"
import type { WatchedTable } from "./tables.ts"
import type { DependencyPlace } from "./client.ts"
import { withUnknownField } from "./unknown-field.ts"

/**
 * A query as requested: a declared query with arguments that its schema accepts, for one viewer.
 */
export interface Question {
  readonly query: LiveQuery
  readonly args: unknown
  readonly range: Range
  /** Null if the viewer may see the range without being asked about. */
  readonly authorize: LiveQuery["authorize"] | null
  readonly dependencies: readonly DependencyPlace[]
}

export interface Catalogue {
  /** Throws `Refused` for an unknown name or wrong arguments. */
  ask(item: Pick<SubscribeItem, "query" | "args">, viewer: unknown): Question
  /** The range alone, where the arguments name it without the viewer. Throws as `ask` does. */
  locate(item: Pick<SubscribeItem, "query" | "args">): Range
  /** Throws `Refused` when a table of the query can no longer be followed. */
  confirm(question: Question): void
}

export function createCatalogue(
  queries: readonly LiveQuery[],
  tables: ReadonlyMap<Table, WatchedTable>,
  broken: ReadonlySet<WatchedTable>,
  shapes: Shapes,
  permit: (viewer: unknown, name: string) => void,
): Catalogue {
  const byName = new Map(queries.map((query) => [query.name, query]))
  if (byName.size < queries.length) throw new Error("Two live queries have the same name.")

  return {
    ask(item, viewer) {
      const { query, args, range } = read(item, viewer)
      const dependencies = query.dependencies?.(args, viewer) ?? []
      return {
        query,
        args,
        range,
        authorize: query.isOwn?.(args) === true ? null : query.authorize,
        dependencies: dependencies.map((each): DependencyPlace => {
          const { shape, key } = preparePlace(query, each.eq, watched(each.table), shapes)
          return { shape, key, on: each.on ?? "change" }
        }),
      }
    },
    locate: (item) => read(item, null).range,
    confirm({ range, dependencies }) {
      mustBeWhole(range.table)
      for (const { shape } of dependencies) mustBeWhole(shape.table)
    },
  }

  function read({ query: name, args: given }: Pick<SubscribeItem, "query" | "args">, viewer: unknown) {
    const query = byName.get(name)
    if (!query) throw new Refused("unknown", `There is no query named ${name}.`)
    // Queries that the server itself follows have no viewer.
    if (viewer !== null) permit(viewer, name)
    if (!isStorable(given)) throw unstorable()
    const parsed = v.safeParse(query.schema, given, { abortEarly: true })
    if (!parsed.success)
      throw new Refused(
        "invalid",
        withUnknownField(`The arguments of ${name} have the wrong form.`, query.schema, given),
      )
    const args = parsed.output
    return {
      query,
      args,
      range: prepareRange(query, query.range(args, viewer), watched(query.table), shapes),
    }
  }

  function watched(description: Table): WatchedTable {
    const table = tables.get(description)
    if (!table) throw new Error(`The table ${description.name} is used by a query but not listed as watched.`)
    mustBeWhole(table)
    return table
  }

  function mustBeWhole(table: WatchedTable): void {
    if (!broken.has(table)) return
    throw createRefusal("unavailable", "application-updating", 5000)
  }
}
