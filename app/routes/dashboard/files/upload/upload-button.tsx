import { Trans, useLingui } from "@lingui/react/macro"
import { Button } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { Menu, MenuItem } from "#app/ui/menu.tsx"
import { FileInput, useFileInput } from "./file-input.tsx"
import type { Chosen } from "./upload.ts"

/**
 * Lets the user choose files or a folder. Hidden without JavaScript, so provide an alternative
 * beside it.
 */
export function UploadButton({
  onFiles,
  variant,
  children: act,
}: {
  onFiles: (chosen: readonly Chosen[]) => void
  variant?: "primary" | "secondary"
  children: string
}) {
  const { t } = useLingui()
  const files = useFileInput(onFiles)
  const folder = useFileInput(onFiles)
  return (
    <div className="flex noscript:hidden">
      <FileInput {...files} label={t`Files to upload`} />
      <FileInput {...folder} label={t`Folder to upload`} isFolder />
      <Button variant={variant} onClick={files.open} className="rounded-r-none">
        <Icon name="upload" />
        {act}
      </Button>
      <Menu
        trigger={
          <Button
            variant={variant}
            aria-label={t`${act}: more ways`}
            className={
              variant === "secondary"
                ? "-ml-px rounded-l-none px-2.5"
                : "rounded-l-none border-l-canvas/30 px-2.5"
            }
          >
            <Icon name="chevron-down" />
          </Button>
        }
      >
        <MenuItem icon="file" onSelect={files.open}>
          <Trans>Files</Trans>
        </MenuItem>
        <MenuItem icon="folder" onSelect={folder.open}>
          <Trans>Upload a folder</Trans>
        </MenuItem>
      </Menu>
    </div>
  )
}
