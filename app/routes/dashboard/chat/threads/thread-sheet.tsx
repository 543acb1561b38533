import { useLingui } from "@lingui/react/macro"
import { useState } from "react"
import { Button } from "#app/ui/button.tsx"
import { defer } from "#app/ui/defer.tsx"
import { Icon } from "#app/ui/icon.tsx"

const Sheet = defer(() => import("./thread-sheet-part.tsx"))((parts) => parts.Sheet)

/** The list of conversations, for screens too narrow to show it beside the open one. */
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
      {/* Stays mounted after the first opening, so that it can slide out. */}
      {wasOpened ? <Sheet open={isOpen} onClose={() => setOpen(false)} /> : null}
    </>
  )
}
