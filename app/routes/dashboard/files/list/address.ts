import { href } from "react-router"

/** Where a file is shown in a tab of its own. */
export function addressOfTab({ fileId, mimeType }: { fileId: string; mimeType: string }): string {
  if (mimeType === "application/pdf") return href("/dashboard/files/:fileId/pdf", { fileId })
  return href("/api/files/:fileId", { fileId })
}
