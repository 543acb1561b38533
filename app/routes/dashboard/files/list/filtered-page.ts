import type { FilePage, FileSummary, ListFiles } from "#server/files/contract.ts"
import type { Loaded } from "#live/contract"

/** Arguments of a page in an order, or with a filter, that no live query has. */
export interface PageArgs extends Pick<ListFiles, "q" | "sort" | "type" | "cursor" | "spaceId"> {
  /** How many files of the list come before the page. */
  from: number
}

/** A file of such a list. Only the server can tell its place: it compares names by its own rules. */
type PlacedFile = FileSummary & { place: number }

/** The page as rows that keep the order in which the server returned them. */
export function filteredPage(args: PageArgs, { files, nextCursor }: FilePage): Loaded<PlacedFile> {
  const { q, sort, type, cursor, spaceId, from } = args
  return {
    query: "files.list",
    args: { q, sort, type, cursor, spaceId, from },
    rows: files.map((file, at) => ({ ...file, place: from + at })),
    order: [["place", "asc"]],
    end: nextCursor === null ? null : `${from + files.length} ${nextCursor}`,
  }
}

/** The arguments of the page after one with this `end`. */
export function argsAfterFiltered(args: PageArgs, end: string): PageArgs {
  const [from, cursor] = end.split(" ")
  return { ...args, from: Number(from), cursor }
}
