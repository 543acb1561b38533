import { getEventListeners } from "node:events"
import { expect, it } from "vitest"
import { threadLinks } from "#server/chat/shares.ts"
import { createLink } from "#server/links/links.ts"
import { streamThreadShare } from "#server/chat/share-stream.ts"
import { createThread } from "#server/chat/threads.ts"
import { shareChatServices } from "../support/chat-services.ts"

const { chat, ada } = await shareChatServices()

it("a stream of a shared conversation leaves no listener behind, whether its reader leaves or the link ends", async () => {
  const before = listeners()
  const left = await follow()
  expect(listeners()).toBe(before + 1)
  await left.cancel()
  expect(listeners()).toBe(before)

  const ended = await follow(Date.now() + 300)
  expect(listeners()).toBe(before + 1)
  expect(await new Response(ended).text()).toContain("event: gone")
  expect(listeners()).toBe(before)
})

async function follow(expiresAt?: number): Promise<ReadableStream> {
  const { _id } = await createThread(ada, { title: "Tides" })
  const { url } = await createLink(ada, threadLinks, _id, { shows: "live", expiresAt })
  // No commit is looked at here.
  const scope = { ...chat, live: { follow: () => () => {} } }
  const visit = { request: new Request(url), network: "192.0.2.1" }
  return streamThreadShare(scope, url.split("/").at(-1) ?? "", visit)
}

/** Of the signal that every stream of the process gets. */
function listeners(): number {
  let signal = new AbortController().signal
  chat.turns.follow((ending) => {
    signal = ending
    return Promise.resolve()
  })
  return getEventListeners(signal, "abort").length
}
