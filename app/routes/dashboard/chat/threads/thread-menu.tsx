import { Trans, useLingui } from "@lingui/react/macro"
import { useState } from "react"
import { href } from "react-router"
import { Button } from "#app/ui/button.tsx"
import { defer } from "#app/ui/defer.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { Menu, MenuItem, MenuLink, MenuSeparator } from "#app/ui/menu.tsx"
import type { ThreadSummary } from "#server/chat/contract.ts"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { useOtherPlaces } from "#app/routes/dashboard/place/use-spaces.ts"
import { useSetPeopleOnly } from "./use-set-people-only.ts"
import { useRemoveThread } from "./use-remove-thread.ts"

const ShareThreadDialog = defer(() => import("./share-thread-dialog-part.tsx"))(
  (parts) => parts.ShareThreadDialog,
)

const PlaceThreadDialog = defer(() => import("./place-thread-dialog-part.tsx"))(
  (parts) => parts.PlaceThreadDialog,
)

export function ThreadMenu({ thread, onRename }: { thread: ThreadSummary; onRename: () => void }) {
  const { t } = useLingui()
  const { title } = thread
  const { mayEdit } = usePlace()
  const remove = useRemoveThread(thread)
  const setPeopleOnly = useSetPeopleOnly(thread)
  const [isSharing, setSharing] = useState(false)
  const [placing, setPlacing] = useState<"move" | "copy" | null>(null)
  const hasPlaces = useOtherPlaces().length > 0
  const address = href("/api/chat/threads/:threadId/export", { threadId: thread._id })
  return (
    <>
      <Menu
        trigger={
          <Button variant="ghost" size="icon" className="size-8" aria-label={t`More actions for ${title}`}>
            <Icon name="more" />
          </Button>
        }
      >
        {mayEdit ? (
          <>
            <MenuItem icon="edit" onSelect={() => afterMenu(onRename)}>
              <Trans>Rename</Trans>
            </MenuItem>
            <MenuItem icon="link" onSelect={() => afterMenu(() => setSharing(true))}>
              <Trans>Share</Trans>
            </MenuItem>
          </>
        ) : null}
        {thread.spaceId !== null && mayEdit ? (
          <MenuItem
            icon={thread.peopleOnly ? "sparkle" : "people"}
            onSelect={() => setPeopleOnly(!thread.peopleOnly)}
          >
            {thread.peopleOnly ? <Trans>Let the assistant reply</Trans> : <Trans>Make it people only</Trans>}
          </MenuItem>
        ) : null}
        {hasPlaces && mayEdit ? (
          <MenuItem icon="arrow-right" onSelect={() => afterMenu(() => setPlacing("move"))}>
            <Trans>Move to…</Trans>
          </MenuItem>
        ) : null}
        {hasPlaces ? (
          <MenuItem icon="copy" onSelect={() => afterMenu(() => setPlacing("copy"))}>
            <Trans>Copy to…</Trans>
          </MenuItem>
        ) : null}
        <MenuLink icon="text" to={`${address}?format=markdown`} download="">
          <Trans>Export as Markdown</Trans>
        </MenuLink>
        <MenuLink icon="code" to={`${address}?format=json`} download="">
          <Trans>Export as JSON</Trans>
        </MenuLink>
        {mayEdit ? (
          <>
            <MenuSeparator />
            <MenuItem icon="trash" tone="danger" onSelect={remove}>
              <Trans>Delete</Trans>
            </MenuItem>
          </>
        ) : null}
      </Menu>
      {placing ? <PlaceThreadDialog act={placing} thread={thread} onClose={() => setPlacing(null)} /> : null}
      {isSharing ? <ShareThreadDialog thread={thread} onClose={() => setSharing(false)} /> : null}
    </>
  )
}

/** A closing menu returns the focus to its button; only then can something else take it. */
function afterMenu(act: () => void) {
  setTimeout(act, 0)
}
