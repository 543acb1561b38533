export const QUERY = "files.list"
export const MUTATION = "files.remove"

const text = { type: "string" }
const list = { type: "object", properties: { after: text } }
const row = {
  type: "object",
  properties: { _id: text, name: text, size: { type: "number" } },
  required: ["_id"],
}
const remove = { type: "object", properties: { fileId: text }, required: ["fileId"] }

/** What the kit answers at /api/realtime.json: the query and the mutation that its situations use. */
export const DOCUMENT = {
  asyncapi: "3.0.0",
  info: { title: "The conformance kit", version: "1" },
  components: {
    schemas: {
      [`${QUERY}.arguments`]: list,
      [`${QUERY}.row`]: row,
      [`${MUTATION}.arguments`]: remove,
      [`${MUTATION}.value`]: { type: "null" },
    },
  },
  "x-queries": [
    {
      name: QUERY,
      description: "Files, in the order that each snapshot names.",
      arguments: { $ref: `#/components/schemas/${QUERY}.arguments` },
      row: { $ref: `#/components/schemas/${QUERY}.row` },
      order: [["_id", "asc"]],
      page: { argument: "after", size: 2 },
      answer: "rows",
      scope: null,
      refusals: {},
    },
  ],
  "x-mutations": [
    {
      name: MUTATION,
      description: "Removes a file.",
      arguments: { $ref: `#/components/schemas/${MUTATION}.arguments` },
      value: { $ref: `#/components/schemas/${MUTATION}.value` },
      scope: null,
      refusals: {},
    },
  ],
  "x-channels": [],
}
