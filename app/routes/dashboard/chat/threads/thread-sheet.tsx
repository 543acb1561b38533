import { useLingui } from "@lingui/react/macro"
import { useState } from "react"
import { Button } from "#app/ui/button.tsx"
import { defer } from "#app/ui/defer.tsx"
import { Icon } from "#app/ui/icon.tsx"

const Sheet = defer(() => import("./thread-sheet-part.tsx"))((parts) => parts.Sheet)

/** The list of conversations where there is no room beside the open one. */
export function ThreadSheet() {
  const { t } = useLingui()
  const [isOpen, setOpen] = useState(false)
  const [wasOpened, setWasOpened] = useState(false)
  return (
    <>
      <Button
        variant="ghost"
        size="icon"
        aria-label={t`Conversations`}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => {
          setWasOpened(true)
          setOpen(true)
        }}
        className="-ml-2 xl:hidden"
      >
        <Icon name="menu" />
      </Button>
      {/* Kept once it was open, so that it can slide out. */}
      {wasOpened ? <Sheet open={isOpen} onClose={() => setOpen(false)} /> : null}
    </>
  )
}
