import { Menu as Base } from "@base-ui/react/menu"
import type { ReactNode } from "react"
import { classNames } from "./class-names.ts"
import { Icon, type IconName } from "./icon.tsx"

/**
 * A menu of actions below a button; the children are MenuItem, MenuLink and MenuSeparator. `anchor`
 * is the button that was pressed, and `focusAfter` decides whether the focus returns to it.
 */
export function AnchoredMenu({
  anchor,
  open = true,
  isByKeyboard = false,
  onClose,
  children,
  align = "end",
  focusAfter,
}: {
  anchor: HTMLElement
  open?: boolean
  /** If set, the focus starts at the first item. */
  isByKeyboard?: boolean
  onClose: () => void
  children: ReactNode
  align?: "start" | "center" | "end"
  focusAfter?: () => boolean
}) {
  return (
    <Base.Root open={open} onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}>
      <Base.Portal>
        <Base.Positioner className="z-50 outline-hidden" sideOffset={6} align={align} anchor={anchor}>
          <Base.Popup
            aria-label={anchor.getAttribute("aria-label") ?? anchor.textContent}
            ref={isByKeyboard ? focusFirstItem : undefined}
            finalFocus={() => (focusAfter?.() === false || isFocusElsewhere() ? false : anchor)}
            className="min-w-44 origin-[var(--transform-origin)] rounded-lg border border-line bg-raised p-1 text-ink shadow-md outline-hidden transition-[opacity,scale] duration-100 ease-out data-ending-style:scale-[0.98] data-ending-style:opacity-0 data-starting-style:scale-[0.98] data-starting-style:opacity-0"
          >
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

/** A dialog that an item opened may already have the focus. */
function isFocusElsewhere(): boolean {
  const { activeElement } = document
  return activeElement !== null && activeElement !== document.body && !activeElement.closest("[role=menu]")
}

function focusFirstItem(popup: HTMLElement | null) {
  popup?.querySelector<HTMLElement>("[role=menuitem]")?.focus({ preventScroll: true })
}

export function MenuItem({
  icon,
  tone,
  children,
  onSelect,
}: {
  icon?: IconName
  tone?: "danger"
  children: ReactNode
  onSelect: () => void
}) {
  return (
    <Base.Item className={itemClass(tone)} onClick={onSelect}>
      {icon ? <Icon name={icon} className="opacity-70" /> : null}
      {children}
    </Base.Item>
  )
}

export function MenuLink({
  icon,
  children,
  to,
  download,
}: {
  icon?: IconName
  children: ReactNode
  to: string
  download: string
}) {
  // oxlint-disable-next-line jsx-a11y/anchor-has-content, jsx-a11y/control-has-associated-label -- Base UI puts the children in
  const link = <a href={to} download={download} />
  return (
    <Base.LinkItem className={itemClass()} closeOnClick render={link}>
      {icon ? <Icon name={icon} className="opacity-70" /> : null}
      {children}
    </Base.LinkItem>
  )
}

export function MenuSeparator() {
  return <Base.Separator className="mx-1 my-1 h-px bg-line" />
}

const itemClass = (tone?: "danger") =>
  classNames(
    "flex min-h-8 cursor-default items-center gap-2.5 rounded-md px-2.5 text-sm outline-hidden select-none touch:min-h-11",
    "data-highlighted:outline-2 data-highlighted:-outline-offset-2 data-highlighted:outline-transparent data-highlighted:outline-solid",
    tone === "danger" ? "text-danger-ink data-highlighted:bg-danger-soft" : "data-highlighted:bg-hover",
  )
