import * as v from "valibot"
import { defineLiveQuery } from "#server/realtime/live-query.ts"
import type { Viewer } from "#server/scope.ts"
import { watchedDevices } from "#server/watched-tables.ts"

/** The viewer's devices that are connected now. */
export const deviceList = defineLiveQuery({
  name: "devices.list",
  args: v.strictObject({}),
  table: watchedDevices,
  range: (_args, viewer: Viewer) => ({
    eq: { userId: viewer.user._id },
    order: { field: "_id", direction: "asc" },
  }),
  fields: ["_creationTime", "label"],
})

export const liveDevices = [deviceList]
