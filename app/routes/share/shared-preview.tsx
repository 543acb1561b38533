import { Trans } from "@lingui/react/macro"
import { Markdown } from "#app/features/markdown/markdown.tsx"
import { ReadingsContext, type Readings } from "#app/features/markdown/readings.ts"
import type { SharedPreview as Shown } from "#server/files/contract.ts"

/** The shared file itself, where a browser can show it without scripts. */
export function SharedPreview({
  shown,
  readings,
  fileName,
  address,
}: {
  shown: Shown
  readings: Readings
  fileName: string
  address: string
}) {
  switch (shown.kind) {
    case "image":
      return (
        <div className={`${frame} grid place-items-center`}>
          <img src={address} alt={fileName} className="max-h-[75dvh] max-w-full object-contain" />
        </div>
      )
    case "video":
      return (
        <div className={`${frame} grid place-items-center`}>
          {/* oxlint-disable-next-line jsx-a11y/media-has-caption -- it is the person's own film, with whatever it has in it */}
          <video
            src={address}
            controls
            playsInline
            aria-label={fileName}
            className="max-h-[75dvh] max-w-full"
          />
        </div>
      )
    case "audio":
      // oxlint-disable-next-line jsx-a11y/media-has-caption -- as above
      return <audio src={address} controls aria-label={fileName} className="w-full" />
    case "pdf":
      // oxlint-disable-next-line react/iframe-missing-sandbox -- the answer itself is sandboxed; with the attribute Chromium would not draw it
      return <iframe src={address} title={fileName} className={`${frame} h-[75dvh] w-full`} />
    case "text":
      return (
        <>
          {readings.get(shown.text) ? (
            // Nothing in it can be pressed, because the page has no scripts.
            <div className={`${frame} p-5 [&_button]:hidden`}>
              <ReadingsContext value={readings}>
                <Markdown text={shown.text} />
              </ReadingsContext>
            </div>
          ) : (
            <pre
              tabIndex={0}
              role="group"
              aria-label={fileName}
              className={`${frame} max-h-[75dvh] overflow-auto p-5 font-mono text-sm leading-relaxed whitespace-pre-wrap wrap-anywhere`}
            >
              {shown.text}
            </pre>
          )}
          {shown.isWhole ? null : (
            <p className="mt-3 text-sm text-muted">
              <Trans>This is the beginning. Download the file to see all of it.</Trans>
            </p>
          )}
        </>
      )
  }
}

const frame = "overflow-hidden rounded-lg border border-line bg-surface"
