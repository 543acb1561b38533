import { cloneElement, useState, type ComponentProps, type KeyboardEvent, type ReactElement } from "react"
import { defer } from "./defer.tsx"

const part = defer(() => import("./menu-parts.tsx"))
export const AnchoredMenu = part((menu) => menu.AnchoredMenu)
export const MenuItem = part((menu) => menu.MenuItem)
export const MenuLink = part((menu) => menu.MenuLink)
export const MenuSeparator = part((menu) => menu.MenuSeparator)

/**
 * A menu of actions, opened by the button `trigger`; the children are MenuItem, MenuLink and
 * MenuSeparator.
 */
export function Menu({
  trigger,
  ...menu
}: { trigger: ReactElement<ComponentProps<"button">> } & Pick<
  ComponentProps<typeof AnchoredMenu>,
  "align" | "children"
>) {
  const [isOpen, setOpen] = useState(false)
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const [isByKeyboard, setByKeyboard] = useState(false)
  const open = (button: HTMLElement, hasKey: boolean) => {
    setAnchor(button)
    setByKeyboard(hasKey)
    setOpen(true)
  }
  return (
    <>
      {cloneElement(trigger, {
        "aria-haspopup": "menu",
        "aria-expanded": isOpen,
        onClick: ({ currentTarget, detail }) => open(currentTarget, detail === 0),
        onKeyDown: (event: KeyboardEvent<HTMLButtonElement>) => {
          if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return
          event.preventDefault()
          open(event.currentTarget, true)
        },
      })}
      {/* Stays mounted after the first opening, so that it can fade out. */}
      {anchor ? (
        <AnchoredMenu
          {...menu}
          anchor={anchor}
          open={isOpen}
          isByKeyboard={isByKeyboard}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </>
  )
}
