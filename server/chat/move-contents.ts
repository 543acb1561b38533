import { and, eq, inArray, isNull, sql, type SQL } from "drizzle-orm"
import { chatMessages, chatReplacedMessages, chatTurns } from "#db/schema/chat.ts"
import { files } from "#db/schema/files.ts"
import { copyInto } from "#server/files/move.ts"
import type { Scope } from "#server/scope.ts"
import type { MoveThread } from "./contract.ts"
import { PUBLIC_TOOLS } from "./tools.ts"

type Moving = Scope<"config" | "db" | "viewer">

/**
 * Makes the attachments of a conversation ones that everybody may open who reads it in its next
 * place: files that are there stay, others are copied there or taken off the messages, as are those
 * that the viewer cannot open. Throws as `copyFiles` does.
 */
export async function bringAttachments(
  scope: Moving,
  threadId: string,
  spaceId: string | null,
  attachments: MoveThread["attachments"],
): Promise<void> {
  const { db, viewer } = scope
  const found = await db.execute<{ id: string }>(sql`
    select distinct item ->> 'fileId' as id
    from (
      select attachments from ${chatMessages} where thread_id = ${threadId}
      union all select attachments from ${chatReplacedMessages} where thread_id = ${threadId}
    ) as messages, jsonb_array_elements(attachments) as item`)
  if (found.length === 0) return
  const ids = found.map(({ id }) => id)
  const there =
    spaceId === null
      ? and(eq(files.userId, viewer.user._id), isNull(files.spaceId))
      : eq(files.spaceId, spaceId)
  const staying = await db
    .select({ _id: files._id })
    .from(files)
    .where(and(there, inArray(files._id, ids)))
  const stays = new Set(staying.map(({ _id }) => _id))
  const others = ids.filter((id) => !stays.has(id))
  const copies = attachments === "copy" && others.length > 0 ? await copyInto(scope, spaceId, others) : []
  const next = JSON.stringify(
    Object.fromEntries([
      ...[...stays].map((id) => [id, {}] as const),
      ...[...copies].map(([id, { _id, fileName }]) => [id, { fileId: _id, fileName }] as const),
    ]),
  )
  for (const table of [chatMessages, chatReplacedMessages])
    await db.execute(sql`
      update ${table} set attachments = (
        select jsonb_agg(item || (next.files -> (item ->> 'fileId')) order by place)
        from jsonb_array_elements(attachments) with ordinality as items (item, place), (select ${next}::jsonb) as next (files)
        where next.files ? (item ->> 'fileId')
      )
      where thread_id = ${threadId} and attachments is not null`)
}

/**
 * Removes from the replies of a conversation what the model's tools found: they searched another
 * place, and name what the readers of the next one may not see.
 */
export async function hideFindings({ db }: Scope<"db">, threadId: string): Promise<void> {
  await db.execute(sql`
    update ${chatTurns} set parts = ${withoutTools("parts")} where thread_id = ${threadId} and ${hasTools("parts")}`)
  await db.execute(sql`
    update ${chatReplacedMessages} set turn = jsonb_set(turn, '{parts}', coalesce(${withoutTools("turn -> 'parts'")}, 'null'))
    where thread_id = ${threadId} and ${hasTools("turn -> 'parts'")}`)
}

/** `parts` is an expression in SQL. */
function withoutTools(parts: string): SQL {
  const kept = `{${PUBLIC_TOOLS.join()}}`
  return sql`(
    select jsonb_agg(part order by place) from jsonb_array_elements(${sql.raw(parts)}) with ordinality as items (part, place)
    where part ->> 'type' <> 'tool' or part ->> 'name' = any(${kept}::text[]))`
}

function hasTools(parts: string): SQL {
  return sql`jsonb_path_exists(${sql.raw(parts)}, '$[*] ? (@.type == "tool")')`
}
