import type { Loaded } from "../protocol/contract.ts"
import { keyOf } from "./client.ts"
import type { PagedList } from "./pages.ts"

/** Lists that were left, so that they are as long as before when one returns to them. */
const remembered = new WeakMap<object, Map<string, PagedList>>()
const MOST_REMEMBERED = 4

/** The list that begins with these rows: as it was left, or else as `create` returns it. */
export function recallPages(client: object, first: Loaded, create: () => PagedList): PagedList {
  const key = keyOf(first)
  const lists = remembered.get(client) ?? new Map<string, PagedList>()
  remembered.set(client, lists)
  const pages = lists.get(key) ?? create()
  pages.startFrom(first)
  lists.delete(key)
  lists.set(key, pages)
  for (const old of [...lists.keys()].slice(0, -MOST_REMEMBERED)) lists.delete(old)
  return pages
}
