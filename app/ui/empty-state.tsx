import type { ReactNode } from "react"
import { classNames } from "./class-names.ts"
import { Icon, type IconName } from "./icon.tsx"

/** Shown when a list is empty: what it is for, and the one thing to do. */
export function EmptyState({
  icon,
  title,
  level,
  children,
  action,
  className,
}: {
  icon: IconName
  title: string
  /** The level of the heading, if the title is one: 1 if it is the page's own. */
  level?: 1 | 2 | 3
  children?: ReactNode
  action?: ReactNode
  className?: string | undefined
}) {
  const Title = level ? (`h${level}` as const) : "p"
  return (
    <div className={classNames("flex flex-col items-center px-6 py-14 text-center", className)}>
      <span className="mb-4 grid size-11 place-items-center rounded-lg border border-line bg-surface text-accent-ink shadow-sm">
        <Icon name={icon} className="size-5" />
      </span>
      <Title className="font-medium">{title}</Title>
      {children ? <div className="mt-1 max-w-sm text-sm text-muted">{children}</div> : null}
      {action ? <div className="mt-5">{action}</div> : null}
    </div>
  )
}
