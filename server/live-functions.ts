import { chatChannels, chatMutations, liveChat } from "./chat/live.ts"
import { demoChannels, liveDemo } from "./demo/live.ts"
import { liveDevices } from "./devices/live.ts"
import { fileChannels, fileMutations, liveFiles } from "./files/live.ts"
import { liveMaintenance } from "./maintenance/live.ts"
import { liveNotificationLists } from "./notifications/live.ts"
import type { KeyScope } from "./ports/identity-contract.ts"
import { operations } from "./domains.ts"
import { mutationsOf } from "./operations/implement.ts"
import type { NamedCall } from "./realtime/options.ts"
import { liveSpaces } from "./spaces/live.ts"
import { liveUsers } from "./users/live.ts"

/** The live queries and mutations that socket clients can use. */
export const liveQueries = [
  ...liveUsers,
  ...liveDevices,
  ...liveFiles,
  ...liveChat,
  ...liveSpaces,
  ...liveNotificationLists,
  ...liveDemo,
  ...liveMaintenance,
]
/** The tables that live queries read. */
export const watchedTables = [...new Set(liveQueries.map(({ table }) => table))]

const handWrittenMutations = [...fileMutations, ...chatMutations]
export const liveMutations = [...handWrittenMutations, ...mutationsOf(operations)]

/** Channels for what is not stored, each beside one of the queries. */
export const liveChannels = [...chatChannels, ...fileChannels, ...demoChannels]

/** What opens a function to an API key: a scope, any key, or none but a key without limits. */
export type FunctionScope = KeyScope | "any" | "unlimited"

type Named = (typeof liveQueries)[number]["name"] | (typeof handWrittenMutations)[number]["name"]
type DomainOf<Name> = Name extends `${infer Domain}.${string}` ? Domain : never

/**
 * By the first part of a name. Without an entry for each there is no build, so that nothing is open
 * to every key only because nobody thought of it.
 */
const SCOPES: Readonly<
  Record<DomainOf<Named>, FunctionScope | Readonly<Record<NamedCall["kind"], FunctionScope>>>
> = {
  users: "unlimited",
  devices: "unlimited",
  files: { query: "files:read", mutation: "files:write" },
  chat: "chat",
  spaces: "spaces",
  notifications: "spaces",
  // Everybody sees the same, visitors too.
  demo: "any",
  maintenance: "any",
}

const scopesByDomain = new Map(Object.entries(SCOPES))
const scopesOfOperations = new Map(operations.map(({ name, scope }) => [name, scope]))

export function neededScope({ kind, name }: NamedCall): FunctionScope {
  const declared = kind === "mutation" && scopesOfOperations.get(name)
  if (declared) return declared
  const scope = scopesByDomain.get(name.split(".")[0] ?? "") ?? "unlimited"
  return typeof scope === "string" ? scope : scope[kind]
}
