import type { ThreadSummary } from "#server/chat/contract.ts"
import type { ShortcutName } from "./shortcuts.ts"

/** The props of a dialog that opens over any page. Its code is loaded on first use. */
export interface CommandDialogProps {
  open: boolean
  onClose: () => void
  /** Runs the action of a shortcut. */
  onAct: (name: ShortcutName) => void
  threads: readonly ThreadSummary[]
  /** What was typed while its code was loading. */
  typed: string
}
