import { Trans, useLingui } from "@lingui/react/macro"
import { useRef, useState } from "react"
import { Button } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { Menu, MenuItem } from "#app/ui/menu.tsx"
import type { Attachment } from "#server/chat/contract.ts"
import type { FileSummary } from "#server/files/contract.ts"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { FilePicker } from "./file-picker.tsx"

interface AttachButtonProps {
  disabled: boolean
  attached: Attachment[]
  onUpload: (files: File[]) => void
  onAttach: (file: FileSummary) => void
}

/** Attaches files to a message: uploads from the device, or files that are already stored. */
export function AttachButton({ disabled, attached, onUpload, onAttach }: AttachButtonProps) {
  const { t } = useLingui()
  const { spaceId } = usePlace()
  const chooser = useRef<HTMLInputElement>(null)
  const [isPicking, setPicking] = useState(false)
  return (
    <>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        aria-label={t`Files from this device`}
        onChange={({ target }) => {
          onUpload([...(target.files ?? [])])
          target.value = ""
        }}
      />
      <Menu
        align="start"
        trigger={
          <Button
            variant="ghost"
            size="icon"
            disabled={disabled}
            aria-label={t`Add files`}
            title={t`Add files`}
          >
            <Icon name="plus" />
          </Button>
        }
      >
        <MenuItem icon="folder" onSelect={() => setPicking(true)}>
          {spaceId === undefined ? t`From your files` : t`From the files of the space`}
        </MenuItem>
        <MenuItem icon="upload" onSelect={() => chooser.current?.click()}>
          <Trans>From this device</Trans>
        </MenuItem>
      </Menu>
      {isPicking ? (
        <FilePicker attached={attached} onPick={onAttach} onClose={() => setPicking(false)} />
      ) : null}
    </>
  )
}
