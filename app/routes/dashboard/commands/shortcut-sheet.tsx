import { useLingui } from "@lingui/react/macro"
import type { ReactNode } from "react"
import { Checkbox } from "#app/ui/checkbox.tsx"
import { Dialog } from "#app/ui/dialog.tsx"
import { Keys } from "#app/ui/keys.tsx"
import type { CommandDialogProps } from "./command-dialog.ts"
import { useLetterShortcuts } from "./letter-shortcuts.ts"
import { shortcuts } from "./shortcuts.ts"

/** Lists every shortcut, with a switch for those that are single letters. */
export default function ShortcutSheet({ open, onClose }: CommandDialogProps) {
  const { t } = useLingui()
  const [areOn, turn] = useLetterShortcuts()
  return (
    <Dialog
      open={open}
      onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}
      title={t`Keyboard shortcuts`}
      wide
    >
      <div className="grid gap-x-10 gap-y-6 sm:grid-cols-2">
        <Group title={t`Anywhere`}>
          <Shortcut keys={shortcuts.palette}>{t`Search, navigate, run commands`}</Shortcut>
          <Shortcut keys={shortcuts.newConversation}>{t`New conversation`}</Shortcut>
          <Shortcut keys={shortcuts.upload}>{t`Upload files`}</Shortcut>
          <Shortcut keys={shortcuts.shortcuts}>{t`Show these shortcuts`}</Shortcut>
        </Group>
        <Group title={t`Go to`}>
          <Shortcut keys={shortcuts.home}>{t`Home`}</Shortcut>
          <Shortcut keys={shortcuts.chat}>{t`Chat`}</Shortcut>
          <Shortcut keys={shortcuts.files}>{t`Files`}</Shortcut>
          <Shortcut keys={shortcuts.trash}>{t`Trash`}</Shortcut>
          <Shortcut keys={shortcuts.account}>{t`Account`}</Shortcut>
        </Group>
        <Group title={t`In the chat`}>
          <Shortcut keys="Enter">{t`Send message`}</Shortcut>
          <Shortcut keys="Shift+Enter">{t`New line`}</Shortcut>
          <Shortcut keys="↑">{t`Edit the last message`}</Shortcut>
          <Shortcut keys="Esc">{t`Stop generating`}</Shortcut>
          <Shortcut keys="mod+Shift+o">{t`New conversation`}</Shortcut>
        </Group>
        <Group title={t`In the file list`}>
          <Shortcut keys="↑+↓">{t`Move`}</Shortcut>
          <Shortcut keys="Enter">{t`Open`}</Shortcut>
          <Shortcut keys="Space">{t`Select`}</Shortcut>
          <Shortcut keys="mod+a">{t`Select all`}</Shortcut>
          <Shortcut keys="F2">{t`Rename`}</Shortcut>
          <Shortcut keys="Delete">{t`Move to the trash`}</Shortcut>
        </Group>
      </div>
      <Checkbox
        label={t`Use single-letter shortcuts`}
        hint={t`Turn this off if you use dictation or press keys by accident. This setting is stored in this browser.`}
        checked={areOn}
        onChange={({ target }) => turn(target.checked)}
        className="mt-6 border-t border-line pt-5"
      />
    </Dialog>
  )
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h3 className="mb-1.5 text-sm font-medium text-faint">{title}</h3>
      <dl className="divide-y divide-line">{children}</dl>
    </section>
  )
}

function Shortcut({ keys, children }: { keys: string; children: ReactNode }) {
  return (
    <div className="flex min-h-9 items-center justify-between gap-4 text-sm">
      <dt>{children}</dt>
      <dd>
        <Keys keys={keys} />
      </dd>
    </div>
  )
}
