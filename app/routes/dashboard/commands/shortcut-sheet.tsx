import type { ReactNode } from "react"
import { Checkbox } from "#app/ui/checkbox.tsx"
import { Dialog } from "#app/ui/dialog.tsx"
import { Keys } from "#app/ui/keys.tsx"
import type { CommandDialogProps } from "./command-dialog.ts"
import { useLetterShortcuts } from "./letter-shortcuts.ts"
import { shortcuts } from "./shortcuts.ts"

/** Every key that does something, and a switch for those that are plain letters. */
export default function ShortcutSheet({ open, onClose }: CommandDialogProps) {
  const [areOn, turn] = useLetterShortcuts()
  return (
    <Dialog
      open={open}
      onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}
      title="Keyboard shortcuts"
      wide
    >
      <div className="grid gap-x-10 gap-y-6 sm:grid-cols-2">
        <Group title="Anywhere">
          <Shortcut keys={shortcuts.palette}>Search, go, do</Shortcut>
          <Shortcut keys={shortcuts.newConversation}>New conversation</Shortcut>
          <Shortcut keys={shortcuts.upload}>Upload files</Shortcut>
          <Shortcut keys={shortcuts.shortcuts}>These shortcuts</Shortcut>
        </Group>
        <Group title="Go to">
          <Shortcut keys={shortcuts.home}>Home</Shortcut>
          <Shortcut keys={shortcuts.chat}>Chat</Shortcut>
          <Shortcut keys={shortcuts.files}>Files</Shortcut>
          <Shortcut keys={shortcuts.trash}>Trash</Shortcut>
          <Shortcut keys={shortcuts.account}>Account</Shortcut>
        </Group>
        <Group title="In the chat">
          <Shortcut keys="Enter">Send the question</Shortcut>
          <Shortcut keys="Shift+Enter">A new line</Shortcut>
          <Shortcut keys="↑">Edit the last question</Shortcut>
          <Shortcut keys="Esc">Stop the answer</Shortcut>
          <Shortcut keys="mod+Shift+o">New conversation</Shortcut>
        </Group>
        <Group title="In the list of files">
          <Shortcut keys="↑+↓">Move</Shortcut>
          <Shortcut keys="Enter">Open</Shortcut>
          <Shortcut keys="Space">Select</Shortcut>
          <Shortcut keys="mod+a">Select all</Shortcut>
          <Shortcut keys="F2">Rename</Shortcut>
          <Shortcut keys="Delete">Move to the trash</Shortcut>
        </Group>
      </div>
      <Checkbox
        label="Plain letters are shortcuts"
        hint="Turn this off if you dictate, or press keys by chance. It is kept in this browser."
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

function Shortcut({ keys, children }: { keys: string; children: string }) {
  return (
    <div className="flex min-h-9 items-center justify-between gap-4 text-sm">
      <dt>{children}</dt>
      <dd>
        <Keys keys={keys} />
      </dd>
    </div>
  )
}
