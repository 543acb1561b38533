import { createContext, use, useState, type ReactNode } from "react"
import { defer, whenRendered } from "#app/ui/defer.tsx"

const Presence = defer(() => import("./presence-part.tsx"), whenRendered)((parts) => parts.Presence)

const PresentContext = createContext<readonly string[]>([])

/** The ids of the others who have a page of the space on the screen, by when they came. */
export function usePresent(): readonly string[] {
  return use(PresentContext)
}

/** Lets the people in a space see who else is there. */
export function PresentProvider({ spaceId, children }: { spaceId: string; children: ReactNode }) {
  const [present, setPresent] = useState<readonly string[]>([])
  return (
    <PresentContext value={present}>
      <Presence spaceId={spaceId} onChange={setPresent} />
      {children}
    </PresentContext>
  )
}
