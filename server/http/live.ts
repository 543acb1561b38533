import type { ArgsOf, Loaded, QueryType, RowOf } from "#live/contract"
import type { Scope } from "#server/scope.ts"

/**
 * Rows to render a page from, all from one snapshot; `useLive` keeps them current in the browser.
 */
export async function loadLive<const Questions extends readonly QueryType[]>(
  { live, viewer }: Scope<"live" | "viewer">,
  ...questions: { [At in keyof Questions]: [query: Questions[At], args: ArgsOf<Questions[At]>] }
): Promise<{ [At in keyof Questions]: Loaded<RowOf<Questions[At]>> }> {
  const loaded = await live.snapshotOf(
    questions.map(([query, args]) => ({ query: query.name, args })),
    viewer,
  )
  // The realtime layer returns the results in order, with the rows of the named queries.
  return loaded as { [At in keyof Questions]: Loaded<RowOf<Questions[At]>> }
}
