import type { ReactNode } from "react"
import { classNames } from "#app/ui/class-names.ts"
import { Icon, type IconName } from "#app/ui/icon.tsx"
import { Logo } from "#app/ui/logo.tsx"

/** A drawing in HTML: somebody renames a file in psql, and the two open screens of the product show it. */
export function LivePicture() {
  return (
    <figure className="relative">
      <div aria-hidden="true" className="relative text-[0.8125rem] leading-5 select-none">
        <BrowserWindow />
        <div className="relative z-10 -mt-16 grid items-end gap-4 px-4 sm:px-8 lg:absolute lg:inset-x-0 lg:-bottom-14 lg:mt-0 lg:grid-cols-[1fr_13rem] lg:px-10">
          <Terminal />
          <Phone />
        </div>
      </div>
      <figcaption className="mx-auto mt-8 max-w-xl px-4 text-center text-sm text-faint lg:mt-24">
        Somebody renames a file in <code className="font-mono">psql</code>, and every screen that has it open
        shows the new name. No code was written to tell them.
      </figcaption>
    </figure>
  )
}

const fileRows: { icon: IconName; name: string; size: string; when: string }[] = [
  { icon: "file", name: "tide-tables-2026.pdf", size: "2.4 MB", when: "2 min ago" },
  { icon: "image", name: "breakwater-north.jpg", size: "4.1 MB", when: "1 h ago" },
  { icon: "file", name: "moorings.csv", size: "88 kB", when: "3 h ago" },
  { icon: "folder", name: "survey-photos.zip", size: "61 MB", when: "Monday" },
]

const OLD_NAME = "draft.pdf"
const NEW_NAME = "harbour-plan.pdf"

function BrowserWindow() {
  return (
    <div className="overflow-hidden rounded-xl border border-line bg-surface shadow-lg">
      <div className="flex h-10 items-center gap-1.5 border-b border-line bg-sunken px-4">
        {["a", "b", "c"].map((dot) => (
          <span key={dot} className="size-2.5 rounded-full bg-line-strong" />
        ))}
        <span className="mx-auto rounded-md sm:-translate-x-5 border border-line bg-surface px-4 py-0.5 font-mono sm:px-10 text-xs text-faint">
          tideline.local/dashboard/files
        </span>
      </div>
      <div className="grid min-h-116 sm:grid-cols-[11rem_1fr] lg:min-h-136">
        <div className="hidden border-r border-line bg-sunken p-3 sm:block">
          <Logo name="Tideline" className="px-2 py-1.5 text-sm [&_svg]:size-5" />
          <div className="mt-3 grid gap-0.5">
            <SidebarRow icon="home">Home</SidebarRow>
            <SidebarRow icon="chat">Chat</SidebarRow>
            <SidebarRow icon="folder" isCurrent>
              Files
            </SidebarRow>
          </div>
        </div>
        <div className="p-5 sm:p-6">
          <div className="flex items-center justify-between">
            <p className="text-lg font-semibold tracking-tight">Files</p>
            <span className="flex items-center gap-3">
              <LiveDot />
              <span className="flex items-center gap-1.5 rounded-md bg-accent px-3 py-1.5 text-xs font-medium text-on-accent">
                <Icon name="upload" className="size-3.5" />
                Upload
              </span>
            </span>
          </div>
          <span className="mt-4 flex items-center gap-2.5 rounded-md border border-line-strong px-3 py-2 text-faint">
            <Icon name="search" />
            Search your files
          </span>
          <div className="mt-3 divide-y divide-line overflow-hidden rounded-lg border border-line">
            <Row icon="file" name={<ChangingName />} size="1.2 MB" when="just now" isChanging />
            {fileRows.map((row) => (
              <Row key={row.name} {...row} />
            ))}
          </div>
        </div>
      </div>
    </div>
  )
}

function SidebarRow({
  icon,
  isCurrent = false,
  children,
}: {
  icon: IconName
  isCurrent?: boolean
  children: ReactNode
}) {
  return (
    <span
      className={classNames(
        "flex items-center gap-2.5 rounded-md px-2 py-1.5",
        isCurrent ? "bg-surface font-medium text-ink shadow-sm" : "text-muted",
      )}
    >
      <Icon name={icon} />
      {children}
    </span>
  )
}

function Row({
  icon,
  name,
  size,
  when,
  isChanging = false,
}: {
  icon: IconName
  name: ReactNode
  size: string
  when: string
  isChanging?: boolean
}) {
  return (
    <div
      className={classNames(
        "flex items-center gap-3 px-4 py-2.5",
        isChanging && "animate-[arrive_9s_ease-in-out_infinite]",
      )}
    >
      <span className="grid size-8 place-items-center rounded-md border border-line bg-sunken text-muted">
        <Icon name={icon} />
      </span>
      <span className="min-w-0 flex-1 truncate font-medium">{name}</span>
      <span className="hidden w-16 text-right text-faint tabular-nums sm:block">{size}</span>
      <span className="w-18 text-right text-faint">{when}</span>
    </div>
  )
}

/** Both names lie on one another, and take turns. Where motion is not wanted the new one stands. */
function ChangingName() {
  return (
    <span className="grid">
      <span className="col-start-1 row-start-1 animate-[leave_9s_ease-in-out_infinite] opacity-0">
        {OLD_NAME}
      </span>
      <span className="col-start-1 row-start-1 animate-[come_9s_ease-in-out_infinite]">{NEW_NAME}</span>
    </span>
  )
}

function LiveDot() {
  return (
    <span className="flex items-center gap-1.5 text-xs text-success-ink">
      <span className="size-1.5 rounded-full bg-success" />
      Live
    </span>
  )
}

function Terminal() {
  return (
    <div className="max-w-xl overflow-hidden rounded-lg border border-[oklch(0.33_0.02_235)] bg-[oklch(0.2_0.018_240)] font-mono text-xs leading-6 text-[oklch(0.93_0.01_220)] shadow-lg sm:text-[0.8125rem]">
      <div className="border-b border-[oklch(0.29_0.02_235)] px-4 py-1.5 text-xs text-[oklch(0.72_0.015_225)]">
        psql
      </div>
      <div className="px-4 py-3">
        <p>
          <span className="text-[oklch(0.8_0.1_203)]">tideline=#</span> update files set file_name ={" "}
          <span className="text-[oklch(0.86_0.11_150)]">'{NEW_NAME}'</span>
        </p>
        <p>
          <span className="text-[oklch(0.8_0.1_203)]">tideline-#</span> where file_name ={" "}
          <span className="text-[oklch(0.86_0.11_150)]">'{OLD_NAME}'</span>;
        </p>
        <p className="animate-[come_9s_ease-in-out_infinite] text-[oklch(0.72_0.015_225)]">UPDATE 1</p>
      </div>
    </div>
  )
}

function Phone() {
  return (
    <div className="hidden rounded-[1.75rem] border border-line-strong bg-surface p-1.5 shadow-lg lg:block">
      <div className="overflow-hidden rounded-[1.4rem] border border-line bg-canvas">
        <div className="flex items-center justify-between px-4 pt-4 pb-2">
          <span className="font-semibold tracking-tight">Files</span>
          <LiveDot />
        </div>
        <div className="divide-y divide-line border-y border-line bg-surface">
          <PhoneRow isChanging name={<ChangingName />} />
          {fileRows.slice(0, 3).map((row) => (
            <PhoneRow key={row.name} name={row.name} />
          ))}
        </div>
        <div className="grid grid-cols-3 justify-items-center py-3 text-faint">
          <Icon name="home" />
          <Icon name="chat" />
          <Icon name="folder" className="text-accent-ink" />
        </div>
      </div>
    </div>
  )
}

function PhoneRow({ name, isChanging = false }: { name: ReactNode; isChanging?: boolean }) {
  return (
    <div
      className={classNames(
        "flex items-center gap-2.5 px-4 py-2.5 text-xs",
        isChanging && "animate-[arrive_9s_ease-in-out_infinite]",
      )}
    >
      <Icon name="file" className="text-faint" />
      <span className="min-w-0 flex-1 truncate font-medium">{name}</span>
    </div>
  )
}
