import { findSpaceUsage } from "#server/files/files.ts"
import { liveRevision, liveUsage } from "#server/files/live.ts"
import { loadLive } from "#server/http/live.ts"

type Loading = Parameters<typeof loadLive>[0] & Parameters<typeof findSpaceUsage>[0]

/** The viewer's sums, and what changes with the files of the place: for what is personal, the sums. */
export async function loadRevisions(scope: Loading, spaceId: string | undefined) {
  if (spaceId === undefined) {
    const [usage] = await loadLive(scope, [liveUsage, {}])
    return { usage, revised: usage }
  }
  const [usage, revised] = await loadLive(scope, [liveUsage, {}], [liveRevision, { spaceId }])
  return { usage, revised }
}

/** With what a space stores. It is read after its revision, so that what changes in between is not missed. */
export async function loadUsage(
  scope: Loading,
  spaceId: string | undefined,
  revisions = loadRevisions(scope, spaceId),
) {
  const found = await revisions
  return { ...found, stored: spaceId === undefined ? null : await findSpaceUsage(scope, spaceId) }
}
