import * as v from "valibot"
import { defineLiveQuery } from "#server/realtime/live-query.ts"
import { watchedBoats } from "#server/watched-tables.ts"

export const boatList = defineLiveQuery({
  name: "demo.listBoats",
  description: "The boats of the home page's demonstration. Everybody sees the same.",
  args: v.strictObject({}),
  table: watchedBoats,
  range: () => ({ eq: { harbour: "start page" } }),
  fields: ["name", "state", "lamp"],
})

export const liveDemo = [boatList]
