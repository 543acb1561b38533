import type { Config } from "#server/config.ts"
import { schemaOf } from "#server/http/openapi/parts.ts"
import { PROTOCOL_VERSION, REALTIME_PATH } from "#live/contract"
import { publishedChannels, publishedMutations, publishedQueries } from "./functions.ts"
import { PUBLISHED_LIMITS } from "./limits.ts"
import { CLIENT_MESSAGES, ERROR_MEANINGS, HANDSHAKE, SERVER_EVENTS } from "./messages.ts"

const CHANNEL = { $ref: "#/channels/realtime" }

/**
 * The socket as AsyncAPI 3, made from the schemas that the engine parses with. Extensions hold what
 * the format cannot express: `x-queries`, `x-mutations`, `x-channels`, `x-errors` and `x-limits`.
 */
export function describeRealtime({ origin }: Pick<Config, "origin">) {
  const url = new URL(origin)
  const queries = publishedQueries()
  const mutations = publishedMutations()
  const channels = publishedChannels()
  return {
    asyncapi: "3.0.0",
    info: {
      title: "Tideline realtime",
      version: String(PROTOCOL_VERSION),
      description:
        "A client subscribes to live queries, receives a snapshot of their rows, and then every committed transaction that touches them. `x-queries` and `x-mutations` list what can be called by name, `x-channels` where messages can be sent that are not stored, `x-limits` every limit, and `x-errors` the codes of refusals.",
      externalDocs: {
        url: `${origin}/docs/realtime-protocol`,
        description: "The rules that a client follows, with examples.",
      },
    },
    servers: {
      tideline: {
        host: url.host,
        protocol: url.protocol === "https:" ? "wss" : "ws",
        pathname: `${REALTIME_PATH}/`,
        description: "socket.io 4 (Engine.IO 4), WebSocket transport only, default namespace.",
      },
    },
    channels: {
      realtime: {
        address: "?EIO=4&transport=websocket",
        title: "The connection",
        messages: messageReferences(),
        bindings: { ws: { method: "GET" } },
      },
    },
    operations: { ...receivedOperations(), ...sentOperations() },
    components: {
      messages: messages(),
      schemas: {
        ...Object.fromEntries(
          queries.flatMap((each) => [
            [`${each.name}.arguments`, each.arguments],
            [`${each.name}.row`, each.row],
          ]),
        ),
        ...Object.fromEntries(
          mutations.flatMap((each) => [
            [`${each.name}.arguments`, each.arguments],
            [`${each.name}.value`, each.value],
          ]),
        ),
        ...Object.fromEntries(channels.map((each) => [`${each.name}.message`, each.message])),
      },
    },
    "x-queries": queries.map((each) => withReferences(each, ["arguments", "row"])),
    "x-mutations": mutations.map((each) => withReferences(each, ["arguments", "value"])),
    "x-channels": channels.map((each) => withReferences(each, ["message"])),
    "x-errors": ERROR_MEANINGS,
    "x-limits": PUBLISHED_LIMITS,
  }
}

/** All messages: the handshake, the client's with their responses, and the server's events. */
function messages(): Record<string, object> {
  const all: Record<string, object> = { handshake: message("handshake", HANDSHAKE) }
  for (const [name, description] of Object.entries(CLIENT_MESSAGES)) {
    all[name] = message(name, description)
    if (!description.answer) continue
    all[`${name}.answer`] = message(`${name}.answer`, {
      summary: `The acknowledgement of \`${name}\`.`,
      schema: description.answer,
    })
  }
  for (const [name, description] of Object.entries(SERVER_EVENTS)) all[name] = message(name, description)
  return all
}

function message(name: string, { summary, schema }: (typeof SERVER_EVENTS)["commit"]) {
  return { name, summary, contentType: "application/json", payload: schemaOf(schema) }
}

function messageReferences() {
  return Object.fromEntries(
    Object.keys(messages()).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
  )
}

/** What the server receives: the handshake and the client's messages. */
function receivedOperations() {
  const operations: Record<string, object> = {
    handshake: operation("receive", "handshake", HANDSHAKE.summary),
  }
  for (const [name, { summary, answer }] of Object.entries(CLIENT_MESSAGES)) {
    operations[name] = {
      ...operation("receive", name, summary),
      ...(answer && { reply: { channel: CHANNEL, messages: [channelMessage(`${name}.answer`)] } }),
    }
  }
  return operations
}

function sentOperations() {
  return Object.fromEntries(
    Object.entries(SERVER_EVENTS).map(([name, { summary }]) => [name, operation("send", name, summary)]),
  )
}

function operation(action: "send" | "receive", name: string, summary: string) {
  return { action, channel: CHANNEL, summary, messages: [channelMessage(name)] }
}

function channelMessage(name: string) {
  return { $ref: `#/channels/realtime/messages/${name}` }
}

/** Its schemas are under `components`, where generators look for them. */
function withReferences<Described extends { name: string }>(
  described: Described,
  fields: readonly (keyof Described & string)[],
) {
  const references = fields.map((field) => [
    field,
    { $ref: `#/components/schemas/${described.name}.${field}` },
  ])
  return { ...described, ...Object.fromEntries(references) }
}
