import type { ReactNode } from "react"
import { classNames } from "./class-names.ts"
import { Icon, type IconName } from "./icon.tsx"

/** What stands where there is nothing yet: what the place is for, and the one thing to do. */
export function EmptyState({
  icon,
  title,
  children,
  action,
  className,
}: {
  icon: IconName
  title: string
  children?: ReactNode
  action?: ReactNode
  className?: string | undefined
}) {
  return (
    <div className={classNames("flex flex-col items-center px-6 py-14 text-center", className)}>
      <span className="mb-4 grid size-11 place-items-center rounded-lg border border-line bg-surface text-accent-ink shadow-sm">
        <Icon name={icon} className="size-5" />
      </span>
      <p className="font-medium">{title}</p>
      {children ? <div className="mt-1 max-w-sm text-sm text-muted">{children}</div> : null}
      {action ? <div className="mt-5">{action}</div> : null}
    </div>
  )
}
