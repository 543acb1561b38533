import * as v from "valibot"
import { defineLiveQuery } from "#server/realtime/live-query.ts"
import { watchedMaintenance } from "#server/watched-tables.ts"

/** Whether the installation is closed: a row, or none. It is everybody's, so there is no viewer in the question. */
export const closureList = defineLiveQuery({
  name: "maintenance.listClosures",
  args: v.strictObject({}),
  table: watchedMaintenance,
  range: () => ({ eq: { place: "everywhere" } }),
  fields: ["message"],
})

export const liveMaintenance = [closureList]
