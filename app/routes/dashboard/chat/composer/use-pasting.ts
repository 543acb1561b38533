import { useLingui } from "@lingui/react/macro"
import type { ClipboardEvent } from "react"
import { MESSAGE_LIMIT } from "#server/chat/contract.ts"
import { readPaste, textFile } from "./read-paste.ts"
import type { useAttaching } from "./use-attaching.ts"

interface PastingOptions {
  text: string
  /** Called with how the text of the field changes. */
  onText: (change: (text: string) => string) => void
  attaching: Pick<ReturnType<typeof useAttaching>, "isFull" | "upload">
}

/**
 * Texts and files that are pasted, and texts that are too long for a message: they become files
 * beside it, and return to the field if they cannot be uploaded. Nothing is cut off.
 */
export function usePasting({ text, onText, attaching }: PastingOptions) {
  const { t } = useLingui()
  const title = t`Pasted text`
  return {
    isTooLong: text.length > MESSAGE_LIMIT,
    paste(event: ClipboardEvent) {
      const pasted = event.clipboardData
      const content = { files: [...pasted.files], text: pasted.getData("text/plain") }
      const files = readPaste(content, { space: MESSAGE_LIMIT - text.length, title })
      const isText = files !== content.files
      // Text that can no longer be attached goes into the field.
      if (files.length === 0 || (isText && attaching.isFull)) return
      event.preventDefault()
      attaching.upload(files, isText ? putBack : undefined)
    },
    attachText() {
      attaching.upload([textFile(text, title)], putBack)
      onText(() => "")
    },
  }

  function putBack(file: File) {
    void file.text().then((lost) => onText((now) => [now, lost].filter(Boolean).join("\n\n")))
  }
}
