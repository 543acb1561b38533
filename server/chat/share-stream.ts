import type { ChatShare, ChatThread } from "#db/schema/chat.ts"
import type { User } from "#db/schema/users.ts"
import { Unavailable } from "#server/errors.ts"
import { findLink, isOpen, NoSuchLink, PasswordNeeded } from "#server/links/visits.ts"
import type { LiveRow } from "#live/contract"
import type { Scope } from "#server/scope.ts"
import { actAs } from "#server/users/act-as.ts"
import { liveChunks, liveMessages, liveThreadShares, liveTurns } from "./live.ts"
import { threadLinks } from "./shares.ts"

/** Streams of one network in this process: offices share an address. */
const STREAMS_OF_NETWORK = 40
const STREAMS = 500
/** Milliseconds. */
const BETWEEN_EVENTS = 1000
const BETWEEN_BEATS = 15_000
/** Milliseconds. EventSource reconnects automatically. */
const LONGEST = 10 * 60_000

type Following = Scope<"db" | "config" | "turns"> & { live: Pick<Scope<"live">["live"], "follow"> }

/**
 * Server-sent events for the page of a link that shows a conversation as it is: `changed` at most
 * once a second, and `gone` when the link stops working. They carry no content: the page asks for
 * it as its visitor. Throws `NoSuchLink`, also for a link to a copy, `PasswordNeeded`, and
 * `Unavailable` if too many streams are open.
 */
export async function streamThreadShare(
  scope: Following,
  token: string,
  { request, network }: { request: Request; network: string },
): Promise<ReadableStream<Uint8Array>> {
  const find = () => findLink(scope, threadLinks, token, request)
  const found = await find()
  const { link } = found
  if (link.messageIds) throw new NoSuchLink()
  if (!isOpen(scope, link, request)) throw new PasswordNeeded()
  const leaveNetwork = scope.turns.enterAlone(`shared conversations, ${network}`, STREAMS_OF_NETWORK)
  const leave = leaveNetwork && scope.turns.enterAlone("shared conversations", STREAMS)
  if (!leave) {
    leaveNetwork?.()
    throw new Unavailable("too-many-readers")
  }

  /** What ends with the stream; empty once it has ended. */
  const stops = [leaveNetwork, leave]
  const stopAll = () => stops.splice(0).forEach((stop) => stop())
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (text: string) => {
        // A reader that does not keep up misses nothing: one `changed` stands for all.
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(text))
      }
      const close = (last: string) => {
        if (stops.length === 0) return
        stopAll()
        controller.enqueue(encoder.encode(last))
        controller.close()
      }
      const gone = () => close("event: gone\ndata:\n\n")
      const finish = () => close("\n")
      const changes = spread(() => send("event: changed\ndata:\n\n"))
      const beats = setInterval(() => send(": still here\n\n"), BETWEEN_BEATS)
      const { expiresAt } = link
      const left = expiresAt === null ? Infinity : expiresAt - Date.now()
      const end = setTimeout(left < LONGEST ? gone : finish, Math.min(left, LONGEST))
      stops.push(
        changes.stop,
        () => clearInterval(beats),
        () => clearTimeout(end),
        ...follow(scope, found, { changed: changes.report, gone, refused: () => void find().catch(gone) }),
      )
      scope.turns.follow(
        (ending) =>
          new Promise((resolve) => {
            ending.addEventListener("abort", finish, { once: true })
            // The signal lives as long as the process.
            stops.push(resolve, () => ending.removeEventListener("abort", finish))
          }),
      )
      send("retry: 3000\n\n")
    },
    cancel: stopAll,
  })
}

/** Returns functions that stop following. */
function follow(
  { live }: Following,
  { link, thing, owner }: { link: ChatShare; thing: ChatThread; owner: User },
  { changed, gone, refused }: { changed: () => void; gone: () => void; refused: () => void },
) {
  const args = { threadId: thing._id, spaceId: thing.spaceId ?? undefined }
  // The conversation is read as the person who created the link reads it. Refused because it is in
  // the trash, or only for now.
  const as = { viewer: actAs(owner), refused }
  const seeLinks = (rows: readonly LiveRow[]) => {
    if (!rows.some(({ _id }) => _id === link._id)) gone()
  }
  return [
    ...[liveMessages, liveTurns, liveChunks].map(({ name }) =>
      live.follow({ query: name, args }, changed, as),
    ),
    live.follow({ query: liveThreadShares.name, args }, seeLinks, as),
  ]
}

const encoder = new TextEncoder()

/** Throttles `act` to once in `BETWEEN_EVENTS`, with a trailing call. */
function spread(act: () => void) {
  let timer: NodeJS.Timeout | undefined
  let isDue = false
  const report = () => {
    if (timer) {
      isDue = true
      return
    }
    act()
    timer = setTimeout(() => {
      timer = undefined
      if (!isDue) return
      isDue = false
      report()
    }, BETWEEN_EVENTS)
  }
  return { report, stop: () => clearTimeout(timer) }
}
