import { liveReads, liveThreads } from "#server/chat/live.ts"
import { loadLive } from "#server/http/live.ts"
import { findPlace } from "#server/http/place.ts"
import type { FullScope } from "#server/scope.ts"

/** What the chat's layout shows beside the open conversation. */
export async function loadThreads(scope: FullScope, params: { slug?: string | undefined }) {
  const { spaceId } = await findPlace(scope, params)
  const { name, available, isDevelopment } = scope.model
  const [[threads], [reads]] = await Promise.all([
    loadLive(scope, [liveThreads, { spaceId }]),
    spaceId === undefined ? [null] : loadLive(scope, [liveReads, { spaceId }]),
  ])
  return { threads, reads, now: Date.now(), model: { name, available, isDevelopment } }
}
