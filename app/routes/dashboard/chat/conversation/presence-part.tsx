import { plural } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { useEffect, useRef, useState } from "react"
import { openChannel, useClient } from "#live/react"
import { Avatar } from "#app/ui/avatar.tsx"
import { useIsVisible } from "#app/ui/use-is-visible.ts"
import { chatPresenceChannel } from "#server/chat/contract.ts"
import type { Loaded } from "#live/contract"
import { useDraft } from "#app/routes/dashboard/chat/composer/drafts.ts"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { useUser } from "#app/routes/dashboard/viewer/use-user.ts"
import { createPresence, NOBODY } from "./presence.ts"

/** Avatars that are shown; the rest are counted. */
const MOST = 4

interface PresenceProps {
  threadId: string
  /** The rows of the conversation's messages. */
  messages: Pick<Loaded, "query" | "args">
}

/** Who else has the conversation on the screen, and who is writing in it. */
export function PresenceLine(props: PresenceProps) {
  const { t } = useLingui()
  const { members } = usePlace()
  const present = usePresent(props)
  // Somebody who has left the space is no longer named, however late the channel says so.
  const peopleOf = (userIds: string[]) =>
    userIds.flatMap((userId) => {
      const member = members.find((each) => each.userId === userId)
      return member ? [{ ...member, name: member.memberName ?? member.memberEmail }] : []
    })
  const readers = peopleOf(present.readers)
  const names = peopleOf(present.writers).map(({ name }) => name)
  const [one, other] = names
  const more = readers.length - MOST
  return (
    <div className="mx-auto flex h-full w-full max-w-3xl items-center gap-3 px-3 text-xs text-muted">
      <p role="status" className="min-w-0 flex-1 truncate">
        {names.length > 2
          ? t`${plural(names.length, { other: "# people are writing…" })}`
          : other
            ? t`${one} and ${other} are writing…`
            : one
              ? t`${one} is writing…`
              : ""}
      </p>
      {readers.length > 0 ? (
        <ul aria-label={t`Also reading`} className="flex items-center -space-x-1">
          {readers.slice(0, MOST).map(({ userId, name, memberImageUrl }) => (
            <li key={userId} title={name}>
              <Avatar name={name} image={memberImageUrl} className="size-5.5! text-[0.5625rem]!" />
              <span className="sr-only">{name}</span>
            </li>
          ))}
          {more > 0 ? <li className="pl-2 tabular-nums">+{more}</li> : null}
        </ul>
      ) : null}
    </div>
  )
}

function usePresent({ threadId, messages }: PresenceProps) {
  const client = useClient()
  const userId = useUser()._id
  // A conversation in a tab behind others is not being read.
  const isVisible = useIsVisible()
  const [present, setPresent] = useState(NOBODY)
  const [draft] = useDraft(threadId)
  const wrote = useRef((_text: string) => {})
  const { query } = messages
  const args = JSON.stringify(messages.args)

  useEffect(() => {
    if (!isVisible) return
    const presence = createPresence({
      userId,
      send: (said) => channel.send(said),
      changed: setPresent,
    })
    const channel = openChannel(client, { query, args: JSON.parse(args) }, chatPresenceChannel, presence)
    wrote.current = presence.wrote
    return () => {
      wrote.current = () => {}
      channel.leave()
      presence.close()
      setPresent(NOBODY)
    }
  }, [client, userId, query, args, isVisible])

  const shown = useRef(draft.text)
  useEffect(() => {
    if (shown.current === draft.text) return
    shown.current = draft.text
    wrote.current(draft.text)
  }, [draft.text])

  return present
}
