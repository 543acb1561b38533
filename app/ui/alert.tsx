import type { ReactNode } from "react"
import { classNames } from "./class-names.ts"
import { Icon, type IconName } from "./icon.tsx"

/**
 * A message with the next step. A danger alert is announced immediately, others when the screen
 * reader is idle.
 */
export function Alert({
  tone = "info",
  title,
  children,
  action,
  className,
}: {
  tone?: keyof typeof tones
  title: string
  children?: ReactNode
  /** A button or a link that helps. */
  action?: ReactNode
  className?: string | undefined
}) {
  return (
    <div
      role={tone === "danger" ? "alert" : "status"}
      className={classNames("flex items-start gap-3 rounded-lg border p-4 text-sm", tones[tone], className)}
    >
      <Icon name={icons[tone]} className="mt-0.75 shrink-0" />
      <div className="min-w-0 flex-1">
        <p className="font-medium">{title}</p>
        {children ? <div className="mt-0.5 text-muted">{children}</div> : null}
      </div>
      {action}
    </div>
  )
}

const tones = {
  info: "border-accent-line bg-accent-soft text-accent-ink",
  success: "border-success-line bg-success-soft text-success-ink",
  warning: "border-warning-line bg-warning-soft text-warning-ink",
  danger: "border-danger-line bg-danger-soft text-danger-ink",
}

const icons: Record<keyof typeof tones, IconName> = {
  info: "info",
  success: "check-circle",
  warning: "warning",
  danger: "warning",
}
