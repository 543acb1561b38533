import * as v from "valibot"
import { defineLiveQuery } from "#server/realtime/live-query.ts"
import { watchedBoats } from "#server/watched-tables.ts"

/** The boats of the start page. They are everybody's, so the query names no viewer. */
export const boatList = defineLiveQuery({
  name: "demo.listBoats",
  args: v.strictObject({}),
  table: watchedBoats,
  range: () => ({ eq: { harbour: "start page" } }),
  fields: ["name", "state", "lamp"],
})

export const liveDemo = [boatList]
