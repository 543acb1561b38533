import { href, redirect } from "react-router"
import { findFile } from "#server/files/files.ts"
import { orErrorPage } from "#server/http/or-error-page.ts"
import { requireScope } from "#server/http/scope.ts"
import type { Route } from "./+types/pdf.ts"

/** Browsers title the tab of a PDF with what its author wrote into it, or with a part of its URL. */
export function meta({ loaderData }: Route.MetaArgs) {
  return [{ title: loaderData?.fileName }]
}

export async function loader({ context, params }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const { fileName, mimeType, _id: fileId } = await orErrorPage(() => findFile(scope, params.fileId))
  if (mimeType !== "application/pdf") throw redirect(href("/api/files/:fileId", { fileId }))
  return { fileName, fileId }
}

export default function Pdf({ loaderData: { fileId, fileName } }: Route.ComponentProps) {
  const address = href("/api/files/:fileId", { fileId })
  // oxlint-disable-next-line react/iframe-missing-sandbox -- the answer itself is sandboxed; with the attribute Chromium would not draw it
  return <iframe src={address} title={fileName} className="block h-dvh w-full border-0" />
}
