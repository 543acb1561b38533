import { Avatar } from "#app/ui/avatar.tsx"
import { useUser } from "#app/routes/dashboard/viewer/use-user.ts"
import type { Membership } from "#server/spaces/contract.ts"
import { pictureOf } from "./use-spaces.ts"

/** The picture of a space, or the user's own for what is personal. */
export function PlaceAvatar({ space }: { space: Membership | null }) {
  const { name, email, imageUrl } = useUser()
  return (
    <Avatar
      name={space ? space.spaceName : (name ?? email)}
      image={space ? pictureOf(space) : imageUrl}
      className="size-6 rounded-md text-[0.625rem]"
    />
  )
}
