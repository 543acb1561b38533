import { Trans } from "@lingui/react/macro"
import type { ReactNode } from "react"
import { href } from "react-router"
import { buttonClass } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import type { FileSummary } from "#server/files/contract.ts"
import { iconOf } from "./file-thumbnail.tsx"

export function Centred({ children }: { children: ReactNode }) {
  return <div className="flex min-h-0 flex-1 items-center justify-center p-4 sm:px-18">{children}</div>
}

export function Unshown({ file, children }: { file: FileSummary; children: ReactNode }) {
  return (
    <div className="flex flex-1 flex-col items-center justify-center gap-4 p-6 text-center">
      <span className="grid size-16 place-items-center rounded-xl border border-line bg-surface text-faint">
        <Icon name={iconOf(file)} className="size-7" />
      </span>
      <p className="text-sm text-muted">{children}</p>
      <a
        href={href("/api/files/:fileId", { fileId: file._id }) + "?download"}
        download={file.fileName}
        className={buttonClass({ size: "sm" })}
      >
        <Icon name="download" />
        <Trans>Download</Trans>
      </a>
    </div>
  )
}
