import type { ComponentProps } from "react"
import { Button } from "./button.tsx"
import { classNames } from "./class-names.ts"
import { Icon, type IconName } from "./icon.tsx"

/**
 * A small button for an icon alone, in a row or a chip. `label` is its accessible name and its
 * tooltip.
 */
export function IconButton({
  label,
  icon,
  onPress,
  className,
}: {
  label: string
  icon: IconName
  onPress: () => void
  className?: string
}) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={onPress}
      className={classNames(
        "grid size-8 shrink-0 place-items-center rounded-md text-faint hover:bg-hover hover:text-ink focus-visible:-outline-offset-2 touch:size-11",
        className,
      )}
    >
      <Icon name={icon} />
    </button>
  )
}

/** The same in the size of the other buttons. */
export function GhostButton({
  label,
  icon,
  ...rest
}: { label: string; icon: IconName } & ComponentProps<typeof Button>) {
  return (
    <Button variant="ghost" size="icon" aria-label={label} title={label} {...rest}>
      <Icon name={icon} />
    </Button>
  )
}
