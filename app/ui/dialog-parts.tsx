import { useLingui } from "@lingui/react/macro"
import { Dialog as Base } from "@base-ui/react/dialog"
import { useRef, type ReactElement, type ReactNode } from "react"
import { classNames } from "./class-names.ts"
import { Icon } from "./icon.tsx"

/**
 * A modal dialog. Moves the focus inside and back; Escape and a click outside close it. `actions`
 * are at the bottom, the main one last.
 */
export function Dialog({
  title,
  description,
  children,
  actions,
  open,
  onOpenChange,
  wide = false,
  className,
}: {
  title: string
  description?: ReactNode
  children?: ReactNode
  actions?: ReactNode
  open: boolean
  onOpenChange: (open: boolean) => void
  /** For reading: it is wider, and the focus starts at the top, not at the first control. */
  wide?: boolean
  className?: string | undefined
}) {
  const { t } = useLingui()
  const popup = useRef<HTMLDivElement>(null)
  return (
    <Base.Root open={open} onOpenChange={(isOpen) => onOpenChange(isOpen)}>
      <Base.Portal>
        {/* Also over another dialog, such as the drawer of a small screen. */}
        <Base.Backdrop
          forceRender
          className="fixed inset-0 z-50 bg-backdrop transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0"
        />
        <Base.Popup
          ref={popup}
          {...(wide && { initialFocus: popup })}
          className={classNames(
            "fixed top-1/2 left-1/2 z-50 flex max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 flex-col",
            "overflow-y-auto rounded-xl border border-line bg-raised p-6 text-ink shadow-lg outline-hidden",
            "transition-[opacity,scale] duration-150 ease-out data-ending-style:scale-[0.98] data-ending-style:opacity-0 data-starting-style:scale-[0.98] data-starting-style:opacity-0",
            wide ? "max-w-2xl" : "max-w-md",
            className,
          )}
        >
          <Base.Title className="pr-8 text-lg font-semibold tracking-tight">{title}</Base.Title>
          {description ? (
            <Base.Description className="mt-1 text-sm text-muted">{description}</Base.Description>
          ) : null}
          {children ? <div className="mt-4">{children}</div> : null}
          {actions ? <div className="mt-6 flex flex-wrap justify-end gap-2">{actions}</div> : null}
          <Base.Close
            aria-label={t`Close`}
            className="absolute top-4 right-4 grid size-8 place-items-center rounded-md text-faint transition-colors hover:bg-hover hover:text-ink touch:size-11"
          >
            <Icon name="x" />
          </Base.Close>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

/**
 * Closes the surrounding dialog. `render` is the button, as in `<DialogClose
 * render={<Button>Cancel</Button>} />`.
 */
export function DialogClose({ render }: { render: ReactElement }) {
  return <Base.Close render={render} />
}
