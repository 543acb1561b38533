import { formatBytes } from "#server/files/contract.ts"
import { isRunning, type Upload, type Uploads } from "./upload.ts"

export interface UploadSummary {
  title: string
  /** Amounts, speed and time left. */
  detail: string
  /** For a screen reader, which hears it every few seconds. */
  spoken: string
  /** From 0 to 1. */
  share: number
  isBusy: boolean
  isOffline: boolean
  canPause: boolean
  canResume: boolean
  missing: readonly Upload[]
}

export function summarise({ list, rate }: Uploads): UploadSummary {
  const counted = list.filter(({ state }) => state !== "failed")
  const count = (state: Upload["state"]) => list.filter((upload) => upload.state === state).length
  const done = count("done")
  const missing = list.filter(({ state }) => state === "missing")
  const isBusy = list.some(isRunning)
  const isOffline = list.some((upload) => upload.state === "held" && upload.isOffline)
  const size = counted.reduce((sum, upload) => sum + upload.size, 0)
  const sent = counted.reduce((sum, upload) => sum + upload.sent, 0)

  const ended = [
    count("paused") > 0 && `${plural(count("paused"))} paused`,
    missing.length > 0 && `${plural(missing.length)} to be chosen again`,
    done > 0 && `${plural(done)} uploaded`,
    count("failed") > 0 && `${plural(count("failed"))} not uploaded`,
  ]
  const title = isBusy
    ? `Uploading ${Math.min(done + 1, counted.length)} of ${plural(counted.length)}`
    : ended.filter(Boolean).join(", ")
  const amounts = `${formatBytes(sent)} of ${formatBytes(size)}`
  const pace = rate !== null && isBusy ? `${formatBytes(Math.round(rate))}/s` : null
  const left = rate !== null && rate > 0 && isBusy ? describeTimeLeft((size - sent) / rate) : null
  return {
    title,
    detail: [amounts, pace, left].filter(Boolean).join(" · "),
    spoken: isBusy ? [title, `${percent(sent, size)} percent`, left].filter(Boolean).join(", ") : title,
    share: size === 0 ? 1 : sent / size,
    isBusy,
    isOffline,
    canPause: isBusy,
    canResume: !isBusy && count("paused") > 0,
    missing,
  }
}

/** The line below the name. */
export function describeUpload(upload: Upload): string {
  const { size, sent, rate } = upload
  const amounts = `${formatBytes(sent)} of ${formatBytes(size)}`
  switch (upload.state) {
    case "waiting":
      return sent > 0 ? `Waiting · ${amounts}` : `Waiting · ${formatBytes(size)}`
    case "sending":
      // The bytes are on the server's disk a moment after the last one has left.
      if (sent >= size) return "Storing"
      return rate === null ? amounts : `${amounts} · ${formatBytes(Math.round(rate))}/s`
    case "paused":
      return `Paused · ${amounts}`
    case "held":
      return upload.isOffline
        ? `You are offline. It goes on by itself · ${amounts}`
        : `The server does not answer. It goes on by itself · ${amounts}`
    case "missing":
      return sent > 0 ? `Choose this file again to go on · ${amounts}` : "Choose this file again to go on"
    case "done":
      return formatBytes(size)
    case "failed":
      return upload.reason
  }
}

/** `seconds` until the end at the present pace. */
export function describeTimeLeft(seconds: number): string {
  if (seconds < 60) return `${Math.max(1, Math.ceil(seconds))} s left`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 60) return `${minutes} min left`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min left` : `${Math.round(hours / 24)} days left`
}

export function percent(part: number, whole: number): number {
  return whole === 0 ? 100 : Math.floor((part / whole) * 100)
}

function plural(count: number): string {
  return count === 1 ? "1 file" : `${count.toLocaleString("en-GB")} files`
}
