const units = ["bytes", "KB", "MB", "GB", "TB"]

/** `1536` as `1.5 KB`: thousands of 1024, as file managers count. */
export function formatBytes(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1)
  const count = bytes / 1024 ** step
  const digits = step === 0 || count >= 100 ? 0 : 1
  return `${count.toFixed(digits).replace(/\.0$/, "")} ${bytes === 1 ? "byte" : units[step]}`
}
