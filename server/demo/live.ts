import * as v from "valibot"
import { defineChannel, defineLiveQuery } from "#live/open"
import { watchedBoats } from "#db/schema/demo.ts"
import { BOATS } from "./contract.ts"

export const boatList = defineLiveQuery({
  name: "demo.listBoats",
  description: "The boats of the home page's demonstration. Everybody sees the same.",
  args: v.strictObject({}),
  table: watchedBoats,
  range: () => ({ eq: { harbour: "start page" } }),
  fields: ["name", "state", "lamp"],
})

/** Like everything that visitors may do, its words are chosen from a list. */
export const demoAudience = defineChannel({
  name: "demo.audience",
  description: "Those who follow the boats of the home page. A message points at a boat.",
  query: boatList,
  message: v.strictObject({ boat: v.picklist(BOATS.map(({ name }) => name)) }),
})

export const liveDemo = [boatList]
export const demoChannels = [demoAudience]
