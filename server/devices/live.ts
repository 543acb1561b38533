import * as v from "valibot"
import { defineLiveQuery } from "#live/open"
import type { Viewer } from "#server/scope.ts"
import { watchedDevices } from "#db/schema/devices.ts"

export const deviceList = defineLiveQuery({
  name: "devices.list",
  description: "The caller's open connections, the oldest first.",
  args: v.strictObject({}),
  table: watchedDevices,
  order: { field: "_id", direction: "asc" },
  range: (_args, viewer: Viewer) => ({ eq: { userId: viewer.user._id } }),
  fields: ["_creationTime", "label"],
})

export const liveDevices = [deviceList]
