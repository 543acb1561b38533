import type { Scope } from "#server/scope.ts"
import { findMembership } from "#server/spaces/spaces.ts"
import { orErrorPage } from "./or-error-page.ts"

/**
 * The id of the space that a page's URL names; undefined if the page is personal. Throws a response
 * with 404 if the viewer is not a member.
 */
export async function findPlace(
  scope: Scope<"db" | "viewer">,
  { slug }: { slug?: string | undefined },
): Promise<{ spaceId: string | undefined; isPaid: boolean }> {
  if (slug === undefined) return { spaceId: undefined, isPaid: true }
  const { spaceId, role } = await orErrorPage(() => findMembership(scope, slug))
  return { spaceId, isPaid: role === "owner" }
}
