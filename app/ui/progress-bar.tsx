import { classNames } from "./class-names.ts"

/** `share` is from 0 to 1. A native element, so that its length needs no style attribute. */
export function ProgressBar({
  label,
  share,
  tone = "accent",
  className,
}: {
  label: string
  share: number
  tone?: keyof typeof tones | undefined
  className?: string | undefined
}) {
  return (
    <progress
      aria-label={label}
      value={Math.round(Math.min(1, Math.max(0, share)) * 1000)}
      max={1000}
      className={classNames(
        "block h-1 w-full appearance-none overflow-hidden border-0 bg-hover [&::-webkit-progress-bar]:bg-hover",
        "forced-colors:border forced-colors:[&::-webkit-progress-value]:bg-[Highlight]",
        tones[tone],
        className,
      )}
    />
  )
}

const tones = {
  accent: "[&::-moz-progress-bar]:bg-accent [&::-webkit-progress-value]:bg-accent",
  warning: "[&::-moz-progress-bar]:bg-warning [&::-webkit-progress-value]:bg-warning",
  danger: "[&::-moz-progress-bar]:bg-danger [&::-webkit-progress-value]:bg-danger",
  quiet: "[&::-moz-progress-bar]:bg-faint [&::-webkit-progress-value]:bg-faint",
}
