import type { MessageDescriptor } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { href } from "react-router"
import type { IconName } from "#app/ui/icon.tsx"
import type { ShortcutName } from "./commands/shortcuts.ts"

interface Place {
  to: string
  label: MessageDescriptor
  icon: IconName
  /** Only the address itself is the place, and none below it. */
  end: boolean
  shortcut: ShortcutName
}

/** Where the dashboard's navigation leads. */
export const places: Place[] = [
  { to: href("/dashboard"), label: msg`Home`, icon: "home", end: true, shortcut: "home" },
  { to: href("/dashboard/chat"), label: msg`Chat`, icon: "chat", end: false, shortcut: "chat" },
  { to: href("/dashboard/files"), label: msg`Files`, icon: "folder", end: false, shortcut: "files" },
]
