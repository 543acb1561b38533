import * as v from "valibot"
import { domains } from "#server/domains.ts"
import { methodOf, namesIn } from "#server/http/operations.ts"
import type { May } from "#server/operations/contract.ts"
import { isRead, type Operation } from "#server/operations/implement.ts"
import { LINK_TOKEN, OWN, OF_ANOTHER, THERE, type Standing } from "./space-content.ts"
import type { Call } from "./space-functions.ts"
import {
  AUTHOR,
  EDITORS,
  EVERYONE,
  LEAVING,
  MEMBERS,
  NOBODY,
  ofNothing,
  OWNER,
  OWNER_ALONE,
  SKIPPING,
  TAKING,
  type Answers,
} from "./space-rights.ts"
import type { Route } from "./space-routes.ts"

const operations = domains.flatMap((domain) => domain.operations ?? [])

const ANSWERS: Readonly<Record<May, Answers>> = {
  "signed-in": EVERYONE,
  session: EVERYONE,
  member: MEMBERS,
  editor: EDITORS,
  owner: OWNER,
  // Of what there is one of in these tests, the owner is the holder.
  holder: OWNER_ALONE,
  operator: NOBODY,
}

/** Values of inputs, by the field. Texts that are none of these are `Another`. */
export function samplesFor(userIds: Record<Standing, string>): Readonly<Record<string, unknown>> {
  return {
    ...THERE,
    name: "Another",
    title: "Another",
    fileName: "new.txt",
    peopleOnly: true,
    invitationId: THERE.linkId,
    userId: userIds.reader,
    role: "editor",
    token: LINK_TOKEN,
  }
}

/** The id of what the tests have none of. */
const NOWHERE = "5eac0000-0000-7000-8000-000000000099"

/** One of several ways to call an operation, if it is named. */
type Way = Partial<Call> & { way?: string }

const inThread = { threadId: THERE.threadId }
const inSpace = { all: { spaceId: THERE.spaceId } }
const named = { fileIds: [THERE.fileId] }
const to = { spaceId: THERE.spaceId }
const TRASHED: readonly Way[] = [
  { way: "named", answers: SKIPPING, args: { fileIds: [THERE.trashedFileId] } },
  { way: "all", args: inSpace },
]

/** Those for which the field alone, or `may` alone, does not say it. */
const OTHERWISE: Readonly<Record<string, readonly Way[]>> = {
  "chat.moveThread": [
    { way: "out of the space", answers: AUTHOR, args: inThread },
    { way: "into the space", args: { threadId: OWN.threadId, ...to } },
    { way: "of somebody else", answers: TAKING, args: { threadId: OF_ANOTHER.threadId, ...to } },
  ],
  "chat.copyThread": [
    { args: inThread },
    { way: "within the space", answers: EDITORS, args: { ...inThread, ...to } },
    { way: "into the space", answers: EDITORS, args: { threadId: OWN.threadId, ...to } },
    { way: "of somebody else", answers: TAKING, args: { threadId: OF_ANOTHER.threadId, ...to } },
  ],
  "chat.restoreThread": [{ args: { threadId: THERE.trashedThreadId } }],
  "chat.search": [
    { args: { q: "talk", spaceId: THERE.spaceId } },
    { way: "everywhere", answers: EVERYONE, args: { q: "talk", everywhere: "true" } },
  ],
  "files.revokeShare": [{ args: { shareId: THERE.fileShareId } }],
  "chat.revokeShare": [{ args: { shareId: THERE.threadShareId } }],
  "files.share": [{ args: { fileId: THERE.fileId, expiresAt: null } }],
  "chat.share": [{ args: { threadId: THERE.threadId, expiresAt: null } }],
  "spaces.leave": [{ answers: LEAVING }],
  "spaces.restore": [
    { args: { spaceId: THERE.trashedSpaceId } },
    { way: "what is not deleted", answers: NOBODY, args: to },
  ],
  "spaces.accept": [{ answers: NOBODY, args: { invitationId: THERE.invitationId } }],
  "spaces.decline": [{ answers: NOBODY, args: { invitationId: THERE.invitationId } }],
  "files.restore": [{ args: { fileId: THERE.trashedFileId } }],
  "files.delete": [{}, { way: "permanently", args: { fileId: THERE.fileId, permanently: "1" } }],
  "files.removeMany": [{ answers: SKIPPING, args: named }],
  "files.trash": [
    { way: "named", answers: SKIPPING, args: named },
    { way: "all", args: inSpace },
  ],
  "files.restoreMany": TRASHED,
  "files.purgeMany": [...TRASHED, { way: "not in the trash", answers: SKIPPING, args: named }],
  "files.move": [
    { way: "out of the space", args: named },
    { way: "all out of the space", args: inSpace },
    { way: "into the space", args: { fileIds: [OWN.fileId], ...to } },
    { way: "of somebody else", answers: TAKING, args: { fileIds: [OF_ANOTHER.fileId], ...to } },
  ],
  "files.copy": [
    { way: "out of the space", args: named },
    { way: "all out of the space", args: inSpace },
    { way: "within the space", answers: EDITORS, args: { ...named, ...to } },
    { way: "into the space", answers: EDITORS, args: { fileIds: [OWN.fileId], ...to } },
    { way: "of somebody else", answers: TAKING, args: { fileIds: [OF_ANOTHER.fileId], ...to } },
  ],
}

/** Every declared mutation besides `others`, by name. */
export function declaredMutations(
  userIds: Record<Standing, string>,
  others: Readonly<Record<string, string>>,
): Record<string, Call> {
  const called = operations.filter(
    (operation) => !operation.httpOnly && !isRead(operation) && !(operation.name in others),
  )
  return Object.fromEntries(
    called.flatMap((operation) =>
      callsOf(operation, userIds).map(({ way, ...call }) => [operation.name + way, call] as const),
    ),
  )
}

/**
 * Every declared operation of the HTTP API besides `others`, as `DELETE /api/spaces/{spaceId}`; after a
 * comma, in which way.
 */
export function declaredRoutes(
  userIds: Record<Standing, string>,
  others: readonly string[],
): Record<string, Route> {
  return Object.fromEntries(
    operations.flatMap((operation) => {
      const pattern = operation.http?.at.split(" ")[1]
      if (pattern === undefined) return []
      const method = methodOf(operation)
      const name = `${method} ${pattern.replaceAll(/:(\w+)/g, "{$1}")}`
      if (others.includes(name)) return []
      const ok = operation.output ? (operation.http?.creates ? 201 : 200) : 204
      return callsOf(operation, userIds).map(({ way, answers, args }): [string, Route] => [
        name + way,
        { answers, ok, ...requestOf(operation, pattern, args) },
      ])
    }),
  )
}

function callsOf(operation: Operation, userIds: Record<Standing, string>): (Call & { way: string })[] {
  const { [operation.may]: usual } = ANSWERS
  return (OTHERWISE[operation.name] ?? [{}]).map(({ way, answers, args }) => {
    const sample = args ?? sampleOf(operation, samplesFor(userIds))
    const isThere = !Object.values(sample).includes(NOWHERE)
    return {
      way: way === undefined ? "" : `, ${way}`,
      answers: answers ?? (isThere ? usual : ofNothing(usual)),
      args: sample,
    }
  })
}

function sampleOf({ name, input }: Operation, samples: Readonly<Record<string, unknown>>) {
  const [fields] = "options" in input ? input.options : [input]
  const given = Object.entries(fields?.entries ?? {}).map(([field, schema]) => {
    const known = [samples[field], "Another", NOWHERE].find((value) => v.is(schema, value))
    return [field, known] as const
  })
  const sample: Record<string, unknown> = Object.fromEntries(given.filter(([, value]) => value !== undefined))
  const missing = v.safeParse(input, sample).issues?.[0]
  // Where there are no people yet, only names are read.
  if (missing && samples["userId"] !== "")
    throw new Error(`Give ${name} a sample of ${v.getDotPath(missing)}: ${missing.message}`)
  return sample
}

function requestOf(operation: Operation, pattern: string, args: Record<string, unknown>) {
  const method = methodOf(operation)
  const inPath = namesIn(pattern)
  const path = pattern.replaceAll(/:(\w+)/g, (_name, name: string) => String(args[name]))
  const rest = omit(args, inPath)
  if (["GET", "DELETE"].includes(method)) {
    const query = new URLSearchParams(Object.entries(rest).map(([name, value]) => [name, String(value)]))
    return { path: query.size > 0 ? `${path}?${query.toString()}` : path, init: () => ({ method }) }
  }
  if (fieldsOf(operation).every((field) => inPath.includes(field))) return { path, init: () => ({ method }) }
  const headers = { "Content-Type": "application/json" }
  return { path, init: () => ({ method, headers, body: JSON.stringify(rest) }) }
}

function fieldsOf({ input }: Operation): string[] {
  const [first] = "options" in input ? input.options : [input]
  return Object.keys(first?.entries ?? {})
}

function omit(args: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name)))
}
