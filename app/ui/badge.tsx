import type { ReactNode } from "react"
import { classNames } from "./class-names.ts"

/** A word or two about the state of the item beside it. */
export function Badge({ tone = "neutral", children }: { tone?: keyof typeof tones; children: ReactNode }) {
  return (
    <span
      className={classNames(
        "inline-flex items-center gap-1.5 rounded-full border px-2 py-px text-xs font-medium whitespace-nowrap",
        tones[tone],
      )}
    >
      {children}
    </span>
  )
}

const tones = {
  neutral: "border-line-strong bg-sunken text-muted",
  accent: "border-accent-line bg-accent-soft text-accent-ink",
  success: "border-success-line bg-success-soft text-success-ink",
  warning: "border-warning-line bg-warning-soft text-warning-ink",
  danger: "border-danger-line bg-danger-soft text-danger-ink",
}
