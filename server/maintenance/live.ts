import * as v from "valibot"
import { defineLiveQuery } from "#live/open"
import { watchedMaintenance } from "#db/schema/maintenance.ts"

export const closureList = defineLiveQuery({
  name: "maintenance.listClosures",
  description: "One row while the site is in maintenance mode, otherwise none. Everybody sees the same.",
  args: v.strictObject({}),
  table: watchedMaintenance,
  range: () => ({ eq: { place: "everywhere" } }),
  fields: ["message"],
})

export const liveMaintenance = [closureList]
