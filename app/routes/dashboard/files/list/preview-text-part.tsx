import { Trans, useLingui } from "@lingui/react/macro"
import { useEffect, useState } from "react"
import { Coloured } from "#app/features/markdown/code-block.tsx"
import { Markdown } from "#app/features/markdown/markdown.tsx"
import { useFormats } from "#app/language/formats.ts"
import { request } from "#app/routes/dashboard/requests/send.ts"
import { Button } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { Spinner } from "#app/ui/spinner.tsx"
import { isMarkdown, splitName, type FileSummary } from "#server/files/contract.ts"
import { Centred, Unshown } from "./preview-frame.tsx"

/** Bytes of a text that are shown. */
const TEXT_SHOWN = 200_000

/** Characters of Markdown that are rendered. A longer text is shown as its source. */
const RENDERED = 60_000

/** The beginning of a text file: Markdown rendered or as its source, code in colours. */
export function TextPreview({ file, address }: { file: FileSummary; address: string }) {
  const { t } = useLingui()
  const [read, setRead] = useState<{ text: string } | { problem: string } | null>(null)
  useEffect(() => {
    const stop = new AbortController()
    readText(address, file.size, stop.signal).then(
      (text) => setRead({ text }),
      (error: Error) => {
        if (!stop.signal.aborted) setRead({ problem: error.message })
      },
    )
    return () => stop.abort()
  }, [address, file.size])

  if (!read) {
    return (
      <Centred>
        <Spinner label={t`Loading the file`} />
      </Centred>
    )
  }
  if ("problem" in read) return <Unshown file={file}>{read.problem}</Unshown>
  if (read.text === "")
    return (
      <Unshown file={file}>
        <Trans>The file is empty.</Trans>
      </Unshown>
    )
  return <Shown file={file} text={read.text} />
}

function Shown({ file, text }: { file: FileSummary; text: string }) {
  const { t } = useLingui()
  const formats = useFormats()
  const [asSource, setAsSource] = useState(false)
  const canRender = isMarkdown(file) && text.length <= RENDERED
  const isRendered = canRender && !asSource
  const shown = formats.bytes(TEXT_SHOWN)
  const size = formats.bytes(file.size)
  return (
    <>
      {canRender || file.size > TEXT_SHOWN ? (
        <div className="flex items-center gap-3 border-b border-line bg-sunken py-1.5 pr-2 pl-5 text-sm text-muted">
          {file.size > TEXT_SHOWN ? (
            <p>
              <Trans>
                Showing the first {shown} of {size}. Download the file to see all of it.
              </Trans>
            </p>
          ) : null}
          {canRender ? (
            <Button
              variant={asSource ? "secondary" : "ghost"}
              size="sm"
              className="ml-auto"
              aria-pressed={asSource}
              onClick={() => setAsSource(!asSource)}
            >
              <Icon name="code" />
              <Trans>Source</Trans>
            </Button>
          ) : null}
        </div>
      ) : null}
      <div
        tabIndex={0}
        role="group"
        aria-label={t`Content`}
        className="min-h-0 flex-1 overflow-auto bg-surface p-5 sm:px-8"
      >
        {isRendered ? (
          <div className="mx-auto max-w-[80ch]">
            <Markdown text={text} />
          </div>
        ) : (
          <pre className="mx-auto max-w-[100ch] font-mono text-sm leading-relaxed whitespace-pre-wrap wrap-anywhere">
            <Coloured code={text} language={languageOf(file.fileName)} />
          </pre>
        )}
      </div>
    </>
  )
}

/** The ending of a name, which the highlighter knows as an alias, or the name of a file without one. */
function languageOf(fileName: string): string {
  const { stem, extension } = splitName(fileName)
  return extension === "" ? stem : extension.slice(1)
}

async function readText(address: string, size: number, signal: AbortSignal): Promise<string> {
  if (size === 0) return ""
  const response = await request(address, { signal, headers: { Range: `bytes=0-${TEXT_SHOWN - 1}` } })
  const [{ decodeText }, bytes] = await Promise.all([
    import("#server/files/text-contract.ts"),
    response.arrayBuffer(),
  ])
  return decodeText(new Uint8Array(bytes))
}
