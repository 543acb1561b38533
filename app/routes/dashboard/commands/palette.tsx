import { plural } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { Autocomplete } from "@base-ui/react/autocomplete"
import { Dialog } from "@base-ui/react/dialog"
import { useState } from "react"
import { useSentences } from "#app/language/sentences.ts"
import { Avatar } from "#app/ui/avatar.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { Keys } from "#app/ui/keys.tsx"
import { Spinner } from "#app/ui/spinner.tsx"
import { SEARCH_LIMIT } from "#server/chat/contract.ts"
import type { CommandDialogProps } from "./command-dialog.ts"
import { useCommands, type Command, type CommandGroup } from "./use-commands.ts"

/** Goes to any page, finds conversations and files, and runs commands. */
export default function Palette({ open, onClose, ...rest }: CommandDialogProps) {
  const { t } = useLingui()
  return (
    <Dialog.Root open={open} onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-backdrop transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <Dialog.Popup
          aria-label={t`Command palette`}
          onKeyDown={(event) => {
            // The keys that opened it close it, and open it again during its closing animation.
            if (!open || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "k") return
            event.preventDefault()
            onClose()
          }}
          className="fixed inset-x-3 top-[max(0.75rem,env(safe-area-inset-top))] z-50 mx-auto flex max-h-[min(31rem,calc(100dvh-1.5rem))] max-w-xl flex-col overflow-hidden rounded-xl border border-line bg-raised text-ink shadow-lg outline-hidden transition-[opacity,scale] duration-150 ease-out data-ending-style:scale-[0.98] data-ending-style:opacity-0 data-starting-style:scale-[0.98] data-starting-style:opacity-0 sm:top-[14vh]"
        >
          <CommandList {...rest} onClose={onClose} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function CommandList({ onClose, typed, ...rest }: Omit<CommandDialogProps, "open">) {
  const { t } = useLingui()
  const say = useSentences()
  const [text, setText] = useState(typed)
  const query = text.trim()
  const { groups, isLooking, isNothingFound, problem } = useCommands(query, rest)
  const count = groups.reduce((sum, { items }) => sum + items.length, 0)

  function choose(command: Command) {
    onClose()
    // The dialog returns the focus first; only then can the command take it.
    setTimeout(command.run, 0)
  }

  return (
    <Autocomplete.Root
      open
      inline
      mode="none"
      items={groups}
      itemToStringValue={({ label }: Command) => label}
      value={text}
      onValueChange={(value, { reason }) => (reason === "item-press" ? undefined : setText(value))}
      // Enter must not send a message that was meant as a search.
      autoHighlight={isNothingFound ? false : "always"}
      keepHighlight={!isNothingFound}
    >
      <div className="flex shrink-0 items-center gap-3 border-b border-line pr-2 pl-4">
        <span className="grid size-4 place-items-center text-faint">
          {isLooking ? <Spinner /> : <Icon name="search" />}
        </span>
        <Autocomplete.Input
          aria-label={t`Search or run a command`}
          placeholder={t`Search or run a command…`}
          maxLength={SEARCH_LIMIT}
          className="h-13 min-w-0 flex-1 bg-transparent text-base outline-hidden placeholder:text-faint"
        />
        <Dialog.Close
          aria-label={t`Close`}
          className="grid size-9 shrink-0 place-items-center rounded-md text-faint transition-colors hover:bg-hover hover:text-ink touch:size-11"
        >
          <Icon name="x" />
        </Dialog.Close>
      </div>
      <Autocomplete.Status
        className={
          problem
            ? "px-4 pt-3 text-sm text-danger-ink"
            : isNothingFound
              ? "truncate px-4.5 pt-3 text-sm text-muted"
              : "sr-only"
        }
      >
        {say(problem) ??
          (isLooking
            ? t`Searching`
            : isNothingFound
              ? t`Nothing found for “${query}”`
              : t`${plural(count, { one: "1 thing to choose", other: "# things to choose" })}`)}
      </Autocomplete.Status>
      <Autocomplete.List
        aria-label={t`Commands`}
        className="min-h-0 flex-1 scroll-py-2 overflow-y-auto overscroll-contain p-2 outline-hidden"
      >
        {(group: CommandGroup) => (
          <Autocomplete.Group key={group.label} items={group.items} className="not-last:mb-2">
            <Autocomplete.GroupLabel className="px-2.5 pt-1.5 pb-1 text-xs font-medium text-faint">
              {group.label}
            </Autocomplete.GroupLabel>
            <Autocomplete.Collection>
              {(command: Command) => (
                <Autocomplete.Item
                  key={command.id}
                  value={command}
                  onClick={() => choose(command)}
                  className="group flex min-h-9 cursor-default items-center gap-3 rounded-md px-2.5 text-sm outline-hidden select-none data-highlighted:bg-hover data-highlighted:outline-2 data-highlighted:-outline-offset-2 data-highlighted:outline-transparent data-highlighted:outline-solid touch:min-h-11"
                >
                  {command.image ? (
                    <Avatar
                      name={command.label}
                      image={command.image}
                      className="-mx-0.5 size-5 rounded-sm"
                    />
                  ) : (
                    <Icon name={command.icon} className="text-faint group-data-highlighted:text-ink" />
                  )}
                  <span className="min-w-0 flex-1 truncate">{command.label}</span>
                  {command.detail ? (
                    <span className="max-w-2/5 shrink-0 truncate text-xs text-faint">{command.detail}</span>
                  ) : null}
                  {command.keys ? <Keys keys={command.keys} className="max-sm:hidden" /> : null}
                </Autocomplete.Item>
              )}
            </Autocomplete.Collection>
          </Autocomplete.Group>
        )}
      </Autocomplete.List>
      <div
        aria-hidden="true"
        className="flex shrink-0 gap-4 border-t border-line px-4 py-2.5 text-xs text-faint max-sm:hidden"
      >
        <span className="flex items-center gap-1.5">
          <Keys keys="↑+↓" /> <Trans>choose</Trans>
        </span>
        <span className="flex items-center gap-1.5">
          <Keys keys="↵" /> <Trans>open</Trans>
        </span>
        <span className="flex items-center gap-1.5">
          <Keys keys="Esc" /> <Trans>close</Trans>
        </span>
      </div>
    </Autocomplete.Root>
  )
}
