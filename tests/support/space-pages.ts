import type { RouteConfigEntry } from "@react-router/dev/routes"
import routes from "#app/routes.ts"
import { fileOperations } from "#server/files/operations-contract.ts"
import { spaceOperations } from "#server/spaces/operations-contract.ts"
import { spacePageOperations } from "#server/spaces/page-operations-contract.ts"
import { SLUG, THERE, type Standing } from "./space-content.ts"
import { PIXEL } from "./space-routes.ts"
import { EDITORS, EVERYONE, LEAVING, NOBODY, OWNER, OWNER_ALONE, type Answers } from "./space-rights.ts"

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

/** The forms of the pages of a space, by the name of their operation. */
export function spaceForms(userIds: Record<Standing, string>): Record<string, Form> {
  const { spaceId } = THERE
  const member = { spaceId, userId: userIds.reader }
  return {
    [spaceOperations.invite.name]: {
      answers: OWNER,
      values: { spaceId },
      fields: { email: "more@example.org", role: "reader" },
    },
    [spacePageOperations.makeLink.name]: {
      answers: OWNER,
      values: { spaceId },
      fields: { role: "reader", days: "7", uses: "10" },
    },
    [spacePageOperations.savePicture.name]: { answers: OWNER, values: { spaceId }, picture: PIXEL },
    [spaceOperations.removePicture.name]: { answers: OWNER, values: { spaceId } },
    [spaceOperations.revokeInvitation.name]: {
      answers: OWNER_ALONE,
      values: { invitationId: THERE.linkId },
    },
    [spaceOperations.setRole.name]: { answers: OWNER, values: member, fields: { role: "editor" } },
    [spaceOperations.removeMember.name]: { answers: OWNER, values: member },
    [spaceOperations.transfer.name]: { answers: OWNER, values: member },
    [spaceOperations.change.name]: {
      answers: OWNER,
      values: { spaceId },
      fields: { name: "Renamed", slug: SLUG },
      next: "/s/:slug/settings",
    },
    [spaceOperations.leave.name]: { answers: LEAVING, values: { spaceId }, next: "/dashboard/spaces" },
    [spaceOperations.remove.name]: { answers: OWNER, values: { spaceId }, next: "/dashboard/spaces" },
  }
}

export const LIST_FORMS: Record<string, Form> = {
  [spaceOperations.create.name]: {
    answers: EVERYONE,
    values: {},
    fields: { name: "Another" },
    next: "/s/:slug",
  },
  [spaceOperations.accept.name]: {
    answers: NOBODY,
    values: { invitationId: THERE.invitationId },
    next: "/s/:slug",
  },
  [spaceOperations.decline.name]: { answers: NOBODY, values: { invitationId: THERE.invitationId } },
  [spaceOperations.restore.name]: {
    answers: OWNER_ALONE,
    values: { spaceId: THERE.trashedSpaceId },
    next: "/s/:slug",
  },
}

/** Of the pages of files in a space, by the name of their operation. */
export const FILE_FORMS: Record<string, Form & { page: string }> = {
  [fileOperations.remove.name]: {
    page: "files",
    answers: EDITORS,
    values: { fileId: THERE.fileId },
    next: "",
  },
  [fileOperations.restore.name]: trashForm({ fileId: THERE.trashedFileId }),
  [fileOperations.purge.name]: trashForm({ fileId: THERE.trashedFileId }),
  [fileOperations.restoreMany.name]: trashForm({ all: { spaceId: THERE.spaceId } }),
  [fileOperations.emptyTrash.name]: trashForm({ spaceId: THERE.spaceId }),
}

function trashForm(values: object) {
  return { page: "files/trash", answers: EDITORS, values, next: "" }
}

export interface Form {
  answers: Answers
  values: object
  fields?: Record<string, string>
  /** An image in the field `picture`. */
  picture?: Buffer<ArrayBuffer>
  /** The page that follows; the page of the form without it. */
  next?: string
}
