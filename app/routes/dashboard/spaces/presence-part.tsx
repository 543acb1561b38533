import { useEffect } from "react"
import { openChannel, useClient } from "#live/react"
import { createPresence } from "#app/routes/dashboard/chat/conversation/presence.ts"
import { useUser } from "#app/routes/dashboard/viewer/use-user.ts"
import { useIsVisible } from "#app/ui/use-is-visible.ts"
import { spacePresenceChannel, type SpacePresence } from "#server/spaces/contract.ts"

interface PresenceProps {
  spaceId: string
  /** Called with the ids of the others who are there. */
  onChange: (present: readonly string[]) => void
}

/** Joins the channel in which people say that they have a page of the space on the screen. */
export function Presence({ spaceId, onChange }: PresenceProps) {
  const client = useClient()
  const userId = useUser()._id
  const isVisible = useIsVisible()
  useEffect(() => {
    if (!isVisible) return
    const presence = createPresence({
      userId,
      send: () => channel.send({ userId }),
      changed: ({ readers }) => onChange(readers),
    })
    const message = (member: string, { userId: other }: SpacePresence) =>
      presence.message(member, { userId: other, state: "reading" })
    const rows = { query: "spaces.members", args: { spaceId } }
    const channel = openChannel(client, rows, spacePresenceChannel, { ...presence, message })
    return () => {
      channel.leave()
      presence.close()
      onChange([])
    }
  }, [client, userId, spaceId, onChange, isVisible])
  return null
}
