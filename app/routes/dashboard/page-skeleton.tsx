import { useLingui } from "@lingui/react/macro"
import type { ReactNode } from "react"
import { href } from "react-router"
import { classNames } from "#app/ui/class-names.ts"
import { Skeleton } from "#app/ui/skeleton.tsx"
import { Page, PageHead } from "#app/ui/page.tsx"

/** A placeholder for the page at `path`, with the same layout and sizes. */
export function PageSkeleton({ path }: { path: string }) {
  return (
    <div aria-hidden="true" inert data-skeleton>
      {skeletonOf(path)}
    </div>
  )
}

function skeletonOf(path: string): ReactNode {
  // The pages of a space look like the personal ones.
  const page = path.replace(/^\/s\/[^/]+/, href("/dashboard"))
  if (page.startsWith("/dashboard/chat")) return <ChatSkeleton />
  switch (page) {
    case "/dashboard/files":
      return <FilesSkeleton />
    case "/dashboard/files/trash":
      return <TrashSkeleton />
    case "/dashboard/account":
      return <AccountSkeleton />
    default:
      return <HomeSkeleton />
  }
}

function HomeSkeleton() {
  return (
    <Page>
      <div className="flex h-10 items-center justify-between">
        <Skeleton className="h-7 w-64 max-w-[60%]" />
        <Skeleton className="h-10 w-36 rounded-md" />
      </div>
      <Box className="mt-7 h-14.5 rounded-xl" />
      <div className="mt-8 grid grid-cols-1 gap-5 lg:grid-cols-2">
        <Panel />
        <Panel />
      </div>
    </Page>
  )
}

function Panel() {
  return (
    <Box>
      <div className="flex h-12 items-center border-b border-line px-5">
        <Skeleton className="h-4 w-28" />
      </div>
      <div className="p-1.5">
        {rows(5).map((row) => (
          <div key={row} className="flex h-11 items-center gap-3 px-3.5">
            <Skeleton className="size-4" />
            <Skeleton className="h-3.5 w-3/5" />
            <Skeleton className="ml-auto h-3.5 w-16" />
          </div>
        ))}
      </div>
    </Box>
  )
}

function FilesSkeleton() {
  const { t } = useLingui()
  return (
    <Page>
      <PageHead title={t`Files`}>
        <Skeleton className="h-10 w-36 rounded-md" />
      </PageHead>
      <Skeleton className="mt-2.5 h-3.5 w-60" />
      <div className="mt-9 flex flex-wrap gap-3">
        <Skeleton className="h-10 flex-1 rounded-md max-sm:basis-full" />
        <Skeleton className="h-10 w-32 rounded-md max-sm:flex-1" />
        <Skeleton className="h-10 w-36 rounded-md max-sm:flex-1" />
      </div>
      <FileRows className="mt-4 sm:mt-15" />
    </Page>
  )
}

function TrashSkeleton() {
  const { t } = useLingui()
  return (
    <Page>
      <PageHead title={t`Trash`} above={[{ to: href("/dashboard/files"), label: t`Files` }]} />
      <Skeleton className="mt-2.5 h-3.5 w-60" />
      <FileRows className="mt-13" />
    </Page>
  )
}

function FileRows({ className }: { className: string }) {
  return (
    <Box className={classNames("divide-y divide-line", className)}>
      {rows(8).map((row) => (
        <div key={row} className="flex h-15 items-center gap-3.5 pr-3 pl-4">
          <Skeleton className="size-10 rounded-md" />
          <Skeleton className="h-3.5 w-2/5" />
          <Skeleton className="ml-auto h-3.5 w-16 max-sm:hidden" />
          <Skeleton className="h-3.5 w-20 max-sm:ml-auto" />
        </div>
      ))}
    </Box>
  )
}

function AccountSkeleton() {
  const { t } = useLingui()
  return (
    <Page narrow>
      <PageHead title={t`Account`} />
      {[54, 44, 72, 40].map((height) => (
        <Box key={height} className={classNames("mt-5 p-5", heights[height])}>
          <Skeleton className="h-4 w-24" />
          <Skeleton className="mt-4 h-3.5 w-3/5" />
        </Box>
      ))}
    </Page>
  )
}

const heights: Record<number, string> = { 40: "h-40", 44: "h-44", 54: "h-54", 72: "h-72" }

function ChatSkeleton() {
  return (
    <div className="flex h-[calc(100dvh-var(--frame))]">
      <div className="hidden w-68 shrink-0 flex-col gap-4 border-r border-line px-5 pt-5 xl:flex">
        <Skeleton className="h-4 w-28" />
        <Skeleton className="-mx-2 mt-2 h-9 rounded-md" />
        {rows(8).map((row) => (
          <Skeleton key={row} className={row % 3 === 0 ? "h-3.5 w-4/5" : "h-3.5 w-3/5"} />
        ))}
      </div>
      <div className="flex min-w-0 flex-1 flex-col">
        <div className="flex h-14 shrink-0 items-center border-b border-line px-4 lg:px-5">
          <Skeleton className="h-4 w-40" />
        </div>
        <div className="flex flex-1 flex-col justify-end gap-4 px-4 pb-4">
          <div className="mx-auto w-full max-w-3xl">
            <Box className="h-13.5 rounded-xl" />
            <div className="h-6 max-lg:hidden" />
          </div>
        </div>
      </div>
    </div>
  )
}

function Box({ className, children }: { className?: string; children?: ReactNode }) {
  return (
    <div className={classNames("rounded-lg border border-line bg-surface shadow-sm", className)}>
      {children}
    </div>
  )
}

function rows(count: number): number[] {
  return Array.from({ length: count }, (_, row) => row)
}
