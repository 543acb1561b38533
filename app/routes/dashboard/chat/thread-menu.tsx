import { Button } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { Menu, MenuItem, MenuLink, MenuSeparator } from "#app/ui/menu.tsx"
import type { ThreadSummary } from "#server/chat/contract.ts"
import { useRemoveThread } from "./use-remove-thread.ts"

export function ThreadMenu({ thread, onRename }: { thread: ThreadSummary; onRename: () => void }) {
  const remove = useRemoveThread(thread)
  const address = `/api/chat/threads/${thread._id}/export`
  return (
    <Menu
      trigger={
        <Button variant="ghost" size="icon" className="size-8" aria-label={`More about ${thread.title}`}>
          <Icon name="more" />
        </Button>
      }
    >
      <MenuItem icon="edit" onSelect={() => afterMenu(onRename)}>
        Rename
      </MenuItem>
      <MenuLink icon="text" to={`${address}?format=markdown`} download="">
        Export as Markdown
      </MenuLink>
      <MenuLink icon="code" to={`${address}?format=json`} download="">
        Export as JSON
      </MenuLink>
      <MenuSeparator />
      <MenuItem icon="trash" tone="danger" onSelect={remove}>
        Delete
      </MenuItem>
    </Menu>
  )
}

/** A menu that closes gives the focus back to its button; only then can something else take it. */
function afterMenu(act: () => void) {
  setTimeout(act, 0)
}
