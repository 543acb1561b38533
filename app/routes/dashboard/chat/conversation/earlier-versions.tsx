import { Trans } from "@lingui/react/macro"
import { useState } from "react"
import { Button } from "#app/ui/button.tsx"
import { defer } from "#app/ui/defer.tsx"

const EarlierDialog = defer(() => import("./earlier-versions-part.tsx"))((parts) => parts.EarlierDialog)

/** Opens what an edited message or a reply that was generated again replaced. */
export function EarlierVersions({ threadId, messageId }: { threadId: string; messageId: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button
        variant="ghost"
        size="sm"
        className="text-xs text-faint"
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        <Trans>Earlier versions</Trans>
      </Button>
      {isOpen ? (
        <EarlierDialog threadId={threadId} messageId={messageId} onClose={() => setOpen(false)} />
      ) : null}
    </>
  )
}
