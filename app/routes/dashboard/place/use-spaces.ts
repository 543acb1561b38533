import { useLingui } from "@lingui/react/macro"
import { href, useParams } from "react-router"
import { useLive } from "#live/react"
import { useViewer } from "#app/routes/dashboard/viewer/use-viewer.ts"
import type { Membership } from "#server/spaces/contract.ts"
import { addressesIn, usePlace, type Place } from "./use-place.ts"

/** The user's memberships, live, on any page of the dashboard group. */
export function useSpaces(): readonly Membership[] {
  return useLive(useViewer().memberships)
}

/**
 * Whether the interface leads to spaces: if the operator offers them, and for members of one in any
 * case.
 */
export function useOffersSpaces(): boolean {
  const spaces = useSpaces()
  return useViewer().hasSpaces || spaces.length > 0
}

/**
 * The membership in the space that the URL names. Null for what is personal, and undefined from the
 * commit on that ends it.
 */
export function useSpace(): Membership | null | undefined {
  const { slug } = useParams()
  const spaces = useSpaces()
  return slug === undefined ? null : spaces.find(({ spaceSlug }) => spaceSlug === slug)
}

/** The URL of the space's picture. */
export function pictureOf({ spaceId, spacePictureId }: Pick<Membership, "spaceId" | "spacePictureId">) {
  if (spacePictureId === null) return null
  return `${href("/api/spaces/:spaceId/picture", { spaceId })}?${new URLSearchParams({ id: spacePictureId })}`
}

/** A place that something can be moved or copied to. */
export type OtherPlace = Pick<Place, "spaceId" | "addresses"> & { name: string; space: Membership | null }

/** The places besides the page's own to which the user may add. */
export function useOtherPlaces(): OtherPlace[] {
  const { t } = useLingui()
  const { spaceId: here } = usePlace()
  const spaces = useSpaces()
    .filter(({ role }) => role !== "reader")
    .map((space) => {
      const { spaceId, spaceName, spaceSlug } = space
      return { spaceId, name: spaceName, space, addresses: addressesIn(spaceSlug) }
    })
  const personal = { spaceId: undefined, name: t`Personal`, space: null, addresses: addressesIn(undefined) }
  return [personal, ...spaces].filter(({ spaceId }) => spaceId !== here)
}
