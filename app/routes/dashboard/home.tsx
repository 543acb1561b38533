import { href } from "react-router"
import { msg } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { i18nOf } from "#app/language/i18n.ts"
import { useLive } from "#live/react"
import { liveThreads } from "#server/chat/live.ts"
import { deviceList } from "#server/devices/live.ts"
import type { FileUsage } from "#server/files/contract.ts"
import { fileList, liveUsage } from "#server/files/live.ts"
import { loadLive } from "#server/http/live.ts"
import { requireScope } from "#server/http/scope.ts"
import { limitsOf } from "#server/plans/limits.ts"
import type { UserRecord } from "#server/users/contract.ts"
import { AskBox } from "./place/ask-box.tsx"
import { ConnectedDevices } from "./connected-devices.tsx"
import { DropZone } from "./files/upload/drop-zone.tsx"
import { StorageFull } from "./files/upload/storage-full.tsx"
import { Checklist } from "./checklist.tsx"
import { LatestFiles, LatestThreads } from "./place/latest.tsx"
import { Page, PageHead } from "#app/ui/page.tsx"
import { PlanCard } from "./account/plan-card.tsx"
import type { Chosen } from "./files/upload/upload.ts"
import { UploadButton } from "./files/upload/upload-button.tsx"
import { UploadPanel } from "./files/upload/upload-panel.tsx"
import { uploadQueue } from "./files/upload/upload-queue.ts"
import { useUploads } from "./files/upload/use-uploads.ts"
import { useUser } from "./viewer/use-user.ts"
import { useUsage } from "./files/list/use-usage.ts"
import type { Route } from "./+types/home.ts"

const LATEST = 5

export const meta: Route.MetaFunction = ({ matches }) => [
  { title: i18nOf(matches)._(msg`Dashboard · Tideline`) },
]

export async function loader({ context }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const [threads, files, devices, usage] = await loadLive(
    scope,
    [liveThreads, {}],
    [fileList, {}],
    [deviceList, {}],
    [liveUsage, {}],
  )
  const { plan } = scope.viewer.session
  return {
    now: Date.now(),
    threads,
    files,
    devices,
    usage,
    plan: { plan, limits: limitsOf(scope.config, scope.viewer.session) },
  }
}

export default function Home({ loaderData: { now, plan, ...loaded } }: Route.ComponentProps) {
  const { t } = useLingui()
  const name = firstName(useUser())
  const threads = useLive(loaded.threads)
  const files = useLive(loaded.files)
  const devices = useLive(loaded.devices)
  const usage = useUsage(loaded.usage, plan.limits)
  const uploads = useUploads()
  const isNew = threads.length === 0 && files.length === 0
  const upload = (chosen: readonly Chosen[]) =>
    uploadQueue.add(chosen, { maxSize: plan.limits.largestFile, freeSpace: usage.quota - usage.used })
  return (
    <Page>
      <PageHead
        title={
          isNew
            ? name
              ? t`Welcome, ${name}`
              : t`Welcome`
            : name
              ? t`Welcome back, ${name}`
              : t`Welcome back`
        }
      >
        <UploadButton variant="secondary" onFiles={upload}>{t`Upload`}</UploadButton>
      </PageHead>
      <DropZone onFiles={upload} />
      <StorageFull usage={usage} trash={href("/dashboard/files/trash")} />
      <AskBox />
      <UploadPanel uploads={uploads} onFiles={upload} />
      <Checklist hasThread={threads.length > 0} hasFile={files.length > 0} />
      {/* Until then the checklist says what there is to do. */}
      <div className="mt-8 grid grid-cols-1 gap-5 empty:hidden lg:grid-cols-2">
        {threads.length > 0 ? <LatestThreads threads={threads.slice(0, LATEST)} now={now} /> : null}
        {files.length > 0 ? <LatestFiles files={files.slice(0, LATEST)} now={now} /> : null}
      </div>
      {isNearlyFull(usage) ? <PlanCard {...plan} usage={usage} /> : null}
      <ConnectedDevices devices={devices} />
    </Page>
  )
}

/** The account page always shows the plan; here it is news. */
function isNearlyFull({ used, quota, files, mostFiles }: FileUsage): boolean {
  return used >= 0.8 * quota || files >= 0.8 * mostFiles
}

function firstName({ name }: UserRecord): string | undefined {
  return name?.trim().split(/\s+/)[0] || undefined
}
