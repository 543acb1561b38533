import { createContext, use } from "react"
import { href } from "react-router"
import type { Member } from "#server/spaces/contract.ts"

/** Where what a page shows is: personal, or in a space. */
export interface Place {
  /** Undefined for what is personal. */
  spaceId: string | undefined
  spaceName: string | null
  /** A reader of a space may not. */
  mayEdit: boolean
  /** Whether what is stored here counts for the user. */
  isPaid: boolean
  /** Who did something in a space: a name, or "You". Null for what is personal. */
  nameOf: ((userId: string) => string) | null
  /** Who can be mentioned, and who is there. Nobody for what is personal. */
  members: readonly Member[]
  addresses: Addresses
}

interface Addresses {
  chat: string
  threadAt: (threadId: string) => string
  files: string
  trash: string
}

const PERSONAL: Place = {
  spaceId: undefined,
  spaceName: null,
  mayEdit: true,
  isPaid: true,
  nameOf: null,
  members: [],
  addresses: addressesIn(undefined),
}

/** Provided by the layout of a space; everything outside it is personal. */
export const PlaceContext = createContext(PERSONAL)

export function usePlace(): Place {
  return use(PlaceContext)
}

/** The pages of a space, or with undefined those of what is personal. */
export function addressesIn(slug: string | undefined): Addresses {
  if (slug === undefined) {
    return {
      chat: href("/dashboard/chat"),
      threadAt: (threadId) => href("/dashboard/chat/:threadId", { threadId }),
      files: href("/dashboard/files"),
      trash: href("/dashboard/files/trash"),
    }
  }
  return {
    chat: href("/s/:slug/chat", { slug }),
    threadAt: (threadId) => href("/s/:slug/chat/:threadId", { slug, threadId }),
    files: href("/s/:slug/files", { slug }),
    trash: href("/s/:slug/files/trash", { slug }),
  }
}
