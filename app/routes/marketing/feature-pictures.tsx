import type { ReactNode } from "react"
import { Badge } from "#app/ui/badge.tsx"
import { Icon, type IconName } from "#app/ui/icon.tsx"

/** Drawings in HTML of what the product looks like. They say nothing that the text beside them does not. */
function Picture({ children }: { children: ReactNode }) {
  return (
    <div
      aria-hidden="true"
      className="rounded-xl border border-line bg-[linear-gradient(135deg,var(--color-accent-soft),var(--color-sunken))] p-5 text-sm select-none sm:p-8"
    >
      <div className="rounded-lg border border-line bg-surface shadow-md">{children}</div>
    </div>
  )
}

export function ChatPicture() {
  return (
    <Picture>
      <div className="grid gap-4 p-5">
        <p className="ml-auto max-w-[80%] rounded-lg rounded-br-sm bg-accent-soft px-3.5 py-2.5">
          Which of my files is about the north breakwater?
        </p>
        <div className="max-w-[90%]">
          <p className="mb-2 inline-flex items-center gap-2 rounded-md border border-line bg-canvas px-2.5 py-1 text-xs text-muted">
            <Icon name="search" className="size-3.5" />
            Looked up your files
          </p>
          <p>
            One has it in the name: <span className="font-medium">breakwater-north.jpg</span>, 4.1 MB,
            uploaded an hour ago.
          </p>
        </div>
      </div>
      <div className="flex items-center gap-2 border-t border-line p-3">
        <span className="flex-1 rounded-md border border-line-strong px-3 py-2 text-faint">
          Ask something
        </span>
        <span className="grid size-9 place-items-center rounded-md bg-accent text-on-accent">
          <Icon name="send" />
        </span>
      </div>
    </Picture>
  )
}

const files: { icon: IconName; name: string; note: string }[] = [
  { icon: "file", name: "harbour-plan.pdf", note: "1.2 MB" },
  { icon: "image", name: "breakwater-north.jpg", note: "4.1 MB" },
  { icon: "file", name: "moorings.csv", note: "88 kB" },
]

export function FilesPicture() {
  return (
    <Picture>
      <div className="m-4 rounded-md border border-dashed border-line-strong bg-canvas px-4 py-6 text-center text-muted">
        <Icon name="upload" className="mx-auto mb-2 size-5 text-accent-ink" />
        Drop files here, or choose them
      </div>
      <div className="divide-y divide-line border-t border-line">
        {files.map(({ icon, name, note }) => (
          <p key={name} className="flex items-center gap-3 px-5 py-3">
            <Icon name={icon} className="text-faint" />
            <span className="flex-1 truncate font-medium">{name}</span>
            <span className="text-faint tabular-nums">{note}</span>
          </p>
        ))}
      </div>
      <div className="border-t border-line px-5 py-4">
        <p className="flex justify-between text-xs text-muted">
          <span>5.4 MB of 1 GB</span>
          <span>Free plan</span>
        </p>
        <div className="mt-2 h-1.5 rounded-full bg-hover">
          <div className="h-full w-[4%] rounded-full bg-accent" />
        </div>
      </div>
    </Picture>
  )
}

export function KeysPicture() {
  return (
    <Picture>
      <div className="grid gap-4 p-6 sm:p-7">
        <p className="text-lg font-semibold tracking-tight">Sign in</p>
        <FakeField label="E-mail address">ada@example.org</FakeField>
        <FakeField label="Password">••••••••••••••</FakeField>
        <span className="rounded-md bg-accent py-2.5 text-center font-medium text-on-accent">Sign in</span>
      </div>
      <div className="flex items-center justify-between gap-3 border-t border-line px-6 py-3.5 sm:px-7">
        <span className="text-xs text-muted">Provider</span>
        <span className="flex gap-1.5">
          <Badge tone="accent">Embedded</Badge>
          <Badge>Clerk</Badge>
        </span>
      </div>
    </Picture>
  )
}

function FakeField({ label, children }: { label: string; children: ReactNode }) {
  return (
    <span className="grid gap-1.5">
      <span className="font-medium">{label}</span>
      <span className="rounded-md border border-line-strong px-3 py-2">{children}</span>
    </span>
  )
}
