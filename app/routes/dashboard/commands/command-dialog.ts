import type { ThreadSummary } from "#server/chat/contract.ts"
import type { ShortcutName } from "./shortcuts.ts"

/** What a dialog over the page is given. Its code is fetched when it is first asked for. */
export interface CommandDialogProps {
  open: boolean
  onClose: () => void
  /** Does what a shortcut is for. */
  onAct: (name: ShortcutName) => void
  threads: readonly ThreadSummary[]
  /** What was written while its code was on its way. */
  typed: string
}
