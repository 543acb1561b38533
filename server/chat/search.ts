import { setImmediate as afterOthers } from "node:timers/promises"
import { and, desc, eq, inArray, isNotNull, or, sql, type SQL } from "drizzle-orm"
import type { PgColumn } from "drizzle-orm/pg-core"
import { chatMessages, chatThreads } from "#db/schema/chat.ts"
import type { Scope } from "#server/scope.ts"
import { isInSpaces, isPersonal, listSpaceIds, requireMember, type Placed } from "#server/spaces/access.ts"
import type { SearchQuery } from "./contract.ts"
import type { SearchResults } from "./read-operations.ts"
import { findSnippets, WORD } from "./snippet.ts"
import { storableText } from "./storable.ts"
import { summary } from "./threads.ts"

const RESULTS = 50
const TERMS = 12

/** The words of a term are not anybody's. */
const NOBODY = "00000000-0000-0000-0000-000000000000"

/** No text contains this word, because no word contains a colon. */
const NO_WORD = "'no:word'"

/**
 * The viewer's own conversations, or those in a space, or all that they may see, whose title or
 * messages contain all words of the query, the most recently used first. The last word may be
 * incomplete. Terms with punctuation, such as `chat.ts`, must match as a whole. Throws NotFound for
 * a space that the viewer is not a member of.
 */
export async function searchThreads(
  scope: Scope<"db" | "viewer">,
  { q, spaceId, everywhere }: SearchQuery,
): Promise<SearchResults> {
  if (spaceId !== undefined) await requireMember(scope, spaceId)
  const terms = readTerms(q)
  if (terms.length === 0) return { results: [] }
  const { db } = scope
  const spaceIds = everywhere ? await listSpaceIds(scope) : spaceId === undefined ? [] : [spaceId]
  const isSearched = (table: Placed, personal?: SQL, shared?: SQL) =>
    or(
      everywhere || spaceId === undefined ? and(isPersonal(scope, table), personal) : undefined,
      spaceIds.length > 0 ? and(isInSpaces(scope, table, spaceIds), shared) : undefined,
    )
  const contains = (table: Placed, content: PgColumn) =>
    isSearched(
      table,
      has(table.userId, content, terms, scope.viewer.user._id),
      has(table.userId, content, terms),
    )
  const threads = and(isSearched(chatThreads), eq(chatThreads.trashed, false))
  const said = db.$with("said").as(
    db
      .selectDistinctOn([chatMessages.threadId], {
        threadId: chatMessages.threadId,
        messageId: chatMessages._id,
      })
      .from(chatMessages)
      .where(contains(chatMessages, chatMessages.content))
      .orderBy(chatMessages.threadId, desc(chatMessages._id)),
  )
  const named = db
    .select({ _id: chatThreads._id })
    .from(chatThreads)
    .where(contains(chatThreads, chatThreads.title))
  const found = await db
    .with(said)
    .select({ thread: summary, messageId: chatMessages._id, content: chatMessages.content })
    .from(chatThreads)
    .leftJoin(said, eq(said.threadId, chatThreads._id))
    .leftJoin(chatMessages, eq(chatMessages._id, said.messageId))
    .where(and(threads, or(isNotNull(said.messageId), inArray(chatThreads._id, named))))
    .orderBy(desc(chatThreads.lastMessageAt), desc(chatThreads._id))
    .limit(RESULTS)
  const snippetOf = findSnippets(terms)
  const results: SearchResults["results"] = []
  for (const { thread, messageId, content } of found) {
    results.push({ thread, messageId, snippet: snippetOf(content ?? thread.title) })
    // A long text takes a while.
    await afterOthers()
  }
  return { results }
}

/** Terms without letters and digits cannot be found, so they are ignored. */
function readTerms(q: string): string[] {
  const terms = storableText(q).match(/[\p{Alphabetic}\p{N}](?:\S*[\p{Alphabetic}\p{N}])?/gu) ?? []
  return terms.slice(0, TERMS)
}

/**
 * Whether a text, of this author if there is one, contains the terms. The index answers for their
 * words, which the same function extracts from terms and texts. A term with punctuation is then
 * searched for in the text itself, where any sign matches any other: the index's own phrase search
 * would split every text into words again, which takes seconds for thousands of texts.
 */
function has(
  userId: PgColumn,
  content: PgColumn,
  terms: string[],
  owner: string | null = null,
): SQL | undefined {
  const words = terms.map(
    (term) => sql`coalesce((
      select string_agg(quote_literal(lexeme), ' & ' order by place)
      from unnest(search_words(${NOBODY}, ${term})) as word (lexeme, places, weights), unnest(places) as place),
      ${NO_WORD})`,
  )
  // A single letter is the start of too many words to be useful.
  const beginning = /[\p{Alphabetic}\p{N}]{2}$/u.test(terms.at(-1) ?? "") ? ":*" : ""
  const query = sql`(concat_ws(' & ', ${owner && `'owner:${owner}'`}::text, ${sql.join(words, sql`, `)}) || ${beginning}::text)::tsquery`
  return and(
    sql`search_words(${userId}, ${content}) @@ ${query}`,
    ...terms.filter(isTogether).map((term) => {
      const pattern = `%${term.replace(/[^\p{Alphabetic}\p{N}]/gu, "_")}%`
      return sql`lower(${content} collate pg_unicode_fast) like lower(${pattern}::text collate pg_unicode_fast)`
    }),
  )
}

function isTogether(term: string): boolean {
  return (term.match(WORD)?.length ?? 0) > 1
}
