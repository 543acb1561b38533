import type { MessageDescriptor } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { href } from "react-router"
import type { IconName } from "#app/ui/icon.tsx"
import type { ShortcutName } from "./commands/shortcuts.ts"
import { addressesIn } from "./place/use-place.ts"
import { useSpace } from "./place/use-spaces.ts"

interface Place {
  to: string
  label: MessageDescriptor
  icon: IconName
  /** Whether only this exact path counts as the place, and no path below it. */
  end: boolean
  shortcut?: ShortcutName
}

/** The links of the dashboard's navigation: to what is personal, or to what is in the open space. */
export function usePlaces(): Place[] {
  const space = useSpace()
  return space ? placesIn(space.spaceSlug) : personal
}

const personal: Place[] = [
  { to: href("/dashboard"), label: msg`Home`, icon: "home", end: true, shortcut: "home" },
  { to: href("/dashboard/chat"), label: msg`Chat`, icon: "chat", end: false, shortcut: "chat" },
  { to: href("/dashboard/files"), label: msg`Files`, icon: "folder", end: false, shortcut: "files" },
]

function placesIn(slug: string): Place[] {
  const { chat, files } = addressesIn(slug)
  return [
    { to: href("/s/:slug", { slug }), label: msg`Home`, icon: "home", end: true },
    { to: chat, label: msg`Chat`, icon: "chat", end: false },
    { to: files, label: msg`Files`, icon: "folder", end: false },
    { to: href("/s/:slug/members", { slug }), label: msg`Members`, icon: "user", end: true },
  ]
}
