import { useLingui } from "@lingui/react/macro"
import { classNames } from "#app/ui/class-names.ts"
import { Icon } from "#app/ui/icon.tsx"

/**
 * Copies the `<code>` of the nearest element marked `data-copyable`. Handled by enhance.js; hidden
 * without JavaScript.
 */
export function CopyButton({ className }: { className?: string | undefined }) {
  const { t } = useLingui()
  return (
    <button
      type="button"
      data-copy=""
      aria-label={t`Copy`}
      className={classNames(
        "group grid size-8 place-items-center rounded-md text-faint transition-colors hover:bg-hover hover:text-ink touch:size-11",
        className,
      )}
    >
      <Icon name="copy" className="group-data-[copy=done]:hidden" />
      <Icon name="check" className="hidden text-success-ink group-data-[copy=done]:block" />
    </button>
  )
}
