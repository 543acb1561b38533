import type { I18n, MessageDescriptor } from "@lingui/core"
import { msg, plural } from "@lingui/core/macro"
import { formatsOf } from "#app/language/formats.ts"
import { isRunning, sumOf, type Upload, type Uploads } from "./upload.ts"

export interface UploadSummary {
  title: string
  /** Sizes, speed and time left. */
  detail: string
  /** For screen readers, announced every few seconds. */
  spoken: string
  /** From 0 to 1. */
  share: number
  isBusy: boolean
  isOffline: boolean
  canPause: boolean
  canResume: boolean
  missing: readonly Upload[]
}

export function summarise({ list, rate }: Uploads, i18n: I18n): UploadSummary {
  const formats = formatsOf(i18n)
  const { total, size, sent } = sumOf(list)
  const count = (state: Upload["state"]) => list.filter((upload) => upload.state === state).length
  const done = count("done")
  const missing = list.filter(({ state }) => state === "missing")
  const isBusy = list.some(isRunning)
  const isOffline = list.some((upload) => upload.state === "held" && upload.isOffline)

  const number = formats.number(Math.min(done + 1, total))
  const title = isBusy
    ? i18n._(msg`Uploading ${number} of ${plural(total, { one: "# file", other: "# files" })}`)
    : ENDS.map(({ state, words }) => ({ ended: count(state), words }))
        .filter(({ ended }) => ended > 0)
        .map(({ ended, words }) => i18n._(words(ended)))
        .join(", ")
  const pace = rate !== null && isBusy ? `${formats.bytes(Math.round(rate))}/s` : null
  const left = rate !== null && rate > 0 && isBusy ? describeTimeLeft((size - sent) / rate, i18n) : null
  const share = formats.number(percent(sent, size))
  return {
    title,
    detail: [describeAmounts(sent, size, i18n), pace, left].filter(Boolean).join(" · "),
    spoken: isBusy ? [title, i18n._(msg`${share} percent`), left].filter(Boolean).join(", ") : title,
    share: size === 0 ? 1 : sent / size,
    isBusy,
    isOffline,
    canPause: isBusy,
    canResume: !isBusy && count("paused") > 0,
    missing,
  }
}

/** Listed in this order; states without uploads are left out. */
const ENDS: { state: Upload["state"]; words: (count: number) => MessageDescriptor }[] = [
  {
    state: "paused",
    words: (count) => msg`${plural(count, { one: "# file paused", other: "# files paused" })}`,
  },
  {
    state: "missing",
    words: (count) =>
      msg`${plural(count, { one: "# file to be chosen again", other: "# files to be chosen again" })}`,
  },
  {
    state: "done",
    words: (count) => msg`${plural(count, { one: "# file uploaded", other: "# files uploaded" })}`,
  },
  {
    state: "failed",
    words: (count) => msg`${plural(count, { one: "# file not uploaded", other: "# files not uploaded" })}`,
  },
]

/** The line below the name. */
export function describeUpload(upload: Upload, i18n: I18n): string {
  const { size, sent, rate } = upload
  const formats = formatsOf(i18n)
  const amounts = describeAmounts(sent, size, i18n)
  const whole = formats.bytes(size)
  switch (upload.state) {
    case "waiting":
      return sent > 0 ? i18n._(msg`Waiting · ${amounts}`) : i18n._(msg`Waiting · ${whole}`)
    case "sending":
      // The server finishes writing a moment after the last byte was sent.
      if (sent >= size) return i18n._(msg`Storing`)
      return rate === null ? amounts : `${amounts} · ${formats.bytes(Math.round(rate))}/s`
    case "paused":
      return i18n._(msg`Paused · ${amounts}`)
    case "held":
      return upload.isOffline
        ? i18n._(msg`You're offline. Resumes automatically · ${amounts}`)
        : i18n._(msg`The server isn't responding. Resumes automatically · ${amounts}`)
    case "missing":
      return sent > 0
        ? i18n._(msg`Choose this file again to resume · ${amounts}`)
        : i18n._(msg`Choose this file again to resume`)
    case "done":
      return whole
    case "failed":
      return upload.reason
  }
}

function describeAmounts(sentBytes: number, sizeBytes: number, i18n: I18n): string {
  const formats = formatsOf(i18n)
  const sent = formats.bytes(sentBytes)
  const size = formats.bytes(sizeBytes)
  return i18n._(msg`${sent} of ${size}`)
}

/** `left`: seconds until the end at the current rate. */
function describeTimeLeft(left: number, i18n: I18n): string {
  const seconds = Math.max(1, Math.ceil(left))
  if (left < 60) return i18n._(msg`${seconds} s left`)
  const minutes = Math.ceil(left / 60)
  if (minutes < 60) return i18n._(msg`${minutes} min left`)
  const hours = Math.floor(minutes / 60)
  const days = Math.round(hours / 24)
  if (hours >= 48) return i18n._(msg`${days} days left`)
  const rest = minutes % 60
  return i18n._(msg`${hours} h ${rest} min left`)
}

export function percent(part: number, whole: number): number {
  return whole === 0 ? 100 : Math.floor((part / whole) * 100)
}
