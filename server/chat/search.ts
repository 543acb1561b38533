import { and, desc, eq, inArray, isNotNull, or, sql, type SQL } from "drizzle-orm"
import type { PgColumn } from "drizzle-orm/pg-core"
import { chatMessages, chatThreads } from "#db/schema/chat.ts"
import type { Scope } from "#server/scope.ts"
import { ownMessages, threadsIn } from "./access.ts"
import type { SearchQuery, SearchResults } from "./contract.ts"
import { snippetOf, WORD } from "./snippet.ts"
import { storableText } from "./storable.ts"
import { summary } from "./threads.ts"

const RESULTS = 50
const TERMS = 12

/** No text contains this word, because no word contains a colon. */
const NO_WORD = "'no:word'"

/**
 * The viewer's own conversations, not those in spaces, whose title or messages contain all words of the query, the most
 * recently used first. The last word may be incomplete. Terms with punctuation, such as `chat.ts`,
 * must match as a whole.
 */
export async function searchThreads(
  scope: Scope<"db" | "viewer">,
  { q }: SearchQuery,
): Promise<SearchResults> {
  const terms = readTerms(q)
  if (terms.length === 0) return { results: [] }
  const { db } = scope
  const said = db.$with("said").as(
    db
      .selectDistinctOn([chatMessages.threadId], {
        threadId: chatMessages.threadId,
        messageId: chatMessages._id,
      })
      .from(chatMessages)
      .where(and(ownMessages(scope), has(scope, chatMessages.userId, chatMessages.content, terms)))
      .orderBy(chatMessages.threadId, desc(chatMessages._id)),
  )
  const named = db
    .select({ _id: chatThreads._id })
    .from(chatThreads)
    .where(and(threadsIn(scope), has(scope, chatThreads.userId, chatThreads.title, terms)))
  const found = await db
    .with(said)
    .select({ thread: summary, messageId: chatMessages._id, content: chatMessages.content })
    .from(chatThreads)
    .leftJoin(said, eq(said.threadId, chatThreads._id))
    .leftJoin(chatMessages, eq(chatMessages._id, said.messageId))
    .where(and(threadsIn(scope), or(isNotNull(said.messageId), inArray(chatThreads._id, named))))
    .orderBy(desc(chatThreads.lastMessageAt), desc(chatThreads._id))
    .limit(RESULTS)
  return {
    results: found.map(({ thread, messageId, content }) => ({
      thread,
      messageId,
      snippet: snippetOf(content ?? thread.title, terms),
    })),
  }
}

/** Terms without letters and digits cannot be found, so they are ignored. */
function readTerms(q: string): string[] {
  const terms = storableText(q).match(/[\p{Alphabetic}\p{N}](?:\S*[\p{Alphabetic}\p{N}])?/gu) ?? []
  return terms.slice(0, TERMS)
}

/**
 * Whether a text of the viewer's contains the terms. The index answers for their words, which the
 * same function extracts from terms and texts. A term with punctuation is then searched for in the
 * text itself, where any sign matches any other: the index's own phrase search would split every
 * text into words again, which takes seconds for thousands of texts.
 */
function has(
  { viewer }: Scope<"viewer">,
  userId: PgColumn,
  content: PgColumn,
  terms: string[],
): SQL | undefined {
  const owner = viewer.user._id
  const words = terms.map(
    (term) => sql`coalesce((
      select string_agg(quote_literal(lexeme), ' & ' order by place)
      from unnest(search_words(${owner}, ${term})) as word (lexeme, places, weights), unnest(places) as place),
      ${NO_WORD})`,
  )
  // A single letter is the start of too many words to be useful.
  const beginning = /[\p{Alphabetic}\p{N}]{2}$/u.test(terms.at(-1) ?? "") ? ":*" : ""
  const query = sql`(concat_ws(' & ', ${`'owner:${owner}'`}::text, ${sql.join(words, sql`, `)}) || ${beginning}::text)::tsquery`
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
