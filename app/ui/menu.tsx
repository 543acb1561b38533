import { cloneElement, useState, type ComponentProps, type KeyboardEvent, type ReactElement } from "react"
import { defer } from "./defer.tsx"

const part = defer(() => import("./menu-parts.tsx"))
export const AnchoredMenu = part("AnchoredMenu")
export const MenuItem = part("MenuItem")
export const MenuLink = part("MenuLink")
export const MenuSeparator = part("MenuSeparator")

/** Actions behind a button, which is `trigger`; the children are MenuItem, MenuLink and MenuSeparator. */
export function Menu({
  trigger,
  ...menu
}: { trigger: ReactElement<ComponentProps<"button">> } & Pick<
  ComponentProps<typeof AnchoredMenu>,
  "align" | "children"
>) {
  const [isOpen, setOpen] = useState(false)
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const open = (button: HTMLElement) => {
    setAnchor(button)
    setOpen(true)
  }
  return (
    <>
      {cloneElement(trigger, {
        "aria-haspopup": "menu",
        "aria-expanded": isOpen,
        onClick: ({ currentTarget }) => open(currentTarget),
        onKeyDown: (event: KeyboardEvent<HTMLButtonElement>) => {
          if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return
          event.preventDefault()
          open(event.currentTarget)
        },
      })}
      {/* Kept once it was open, so that it can fade. */}
      {anchor ? (
        <AnchoredMenu {...menu} anchor={anchor} open={isOpen} onClose={() => setOpen(false)} />
      ) : null}
    </>
  )
}
