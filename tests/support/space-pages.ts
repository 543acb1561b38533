import type { RouteConfigEntry } from "@react-router/dev/routes"
import routes from "#app/routes.ts"
import { SLUG, THERE, type Standing } from "./space-content.ts"
import { PIXEL } from "./space-routes.ts"
import { EVERYONE, LEAVING, NOBODY, OWNER, OWNER_ALONE, type Answers } from "./space-rights.ts"

/** What stands for a parameter in the URL of a page. */
const PARAMETERS: Record<string, string> = {
  slug: SLUG,
  threadId: THERE.threadId,
  fileId: THERE.fileId,
  spaceId: THERE.spaceId,
}

/**
 * The URLs of all pages: in a space, and of those that signed-in people have outside of it, which are
 * asked about the same ids.
 */
export function listPages(): { inSpace: string[]; outside: string[] } {
  const paths = pathsOf(routes)
  return {
    inSpace: paths.filter((path) => path.startsWith("/s/")).map(fill),
    outside: paths.filter((path) => /^\/(dashboard|admin)\b/.test(path)).map(fill),
  }
}

/** As `routes.ts` writes them, with their parameters. */
export function pathsOf(entries: readonly RouteConfigEntry[], above = ""): string[] {
  return entries.flatMap(({ path, index, children = [] }) => {
    const here = path === undefined ? above : `${above}/${path}`
    const isPage = index === true || (path !== undefined && children.length === 0)
    return [...(isPage ? [here] : []), ...pathsOf(children, here)]
  })
}

/** An unknown parameter stays as it is, which is no page. */
function fill(path: string): string {
  return path
    .replaceAll(/:(\w+)/g, (whole, name: string) => PARAMETERS[name] ?? whole)
    .replace("*", "nowhere")
}

/** The forms of the pages of a space, and of the page that lists one's spaces, by `intent`. */
export function spaceForms(userIds: Record<Standing, string>) {
  const member = { userId: userIds.reader }
  return {
    invite: { answers: OWNER, ok: 200, fields: { email: "more@example.org", role: "reader" } },
    "make-link": { answers: OWNER, ok: 200, fields: { role: "reader", days: "7", uses: "10" } },
    revoke: { answers: OWNER_ALONE, ok: 200, fields: { invitationId: THERE.linkId } },
    "set-role": { answers: OWNER, ok: 200, fields: { ...member, role: "editor" } },
    remove: { answers: OWNER, ok: 200, fields: member },
    transfer: { answers: OWNER, ok: 200, fields: member },
    change: { answers: OWNER, ok: 302, fields: { name: "Renamed", slug: SLUG } },
    "save-picture": { answers: OWNER, ok: 200, fields: {}, picture: PIXEL },
    "remove-picture": { answers: OWNER, ok: 200, fields: {} },
    leave: { answers: LEAVING, ok: 302, fields: {} },
    delete: { answers: OWNER, ok: 302, fields: {} },
  } satisfies Record<string, Form>
}

export const LIST_FORMS: Record<string, Form> = {
  create: { answers: EVERYONE, ok: 302, fields: { name: "Another" } },
  accept: { answers: NOBODY, ok: 302, fields: { invitationId: THERE.invitationId } },
  decline: { answers: NOBODY, ok: 302, fields: { invitationId: THERE.invitationId } },
  restore: { answers: OWNER_ALONE, ok: 302, fields: { spaceId: THERE.trashedSpaceId } },
}

export interface Form {
  answers: Answers
  ok: number
  fields: Record<string, string>
  /** An image in the field `picture`. */
  picture?: Buffer<ArrayBuffer>
}
