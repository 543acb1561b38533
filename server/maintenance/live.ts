import * as v from "valibot"
import { defineLiveQuery } from "#server/realtime/live-query.ts"
import { watchedMaintenance } from "#server/watched-tables.ts"

/** The closure, if any. It concerns everybody, so the query ignores the viewer. */
export const closureList = defineLiveQuery({
  name: "maintenance.listClosures",
  args: v.strictObject({}),
  table: watchedMaintenance,
  range: () => ({ eq: { place: "everywhere" } }),
  fields: ["message"],
})

export const liveMaintenance = [closureList]
