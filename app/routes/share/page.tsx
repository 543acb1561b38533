import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { href } from "react-router"
import { PasswordCard } from "#app/features/links/password-card.tsx"
import { readReplies } from "#app/features/markdown/read-replies.ts"
import type { Readings } from "#app/features/markdown/readings.ts"
import { i18nOf } from "#app/language/i18n.ts"
import { isMarkdown, type SharedFile } from "#server/files/contract.ts"
import { visitShare } from "#server/files/share-visits.ts"
import { fileLinks } from "#server/files/shares.ts"
import { orErrorPage } from "#server/http/or-error-page.ts"
import { servicesOf } from "#server/http/scope.ts"
import { DeadLink, LinkFrame } from "./frame.tsx"
import { secretHeaders, unlock } from "./gate.ts"
import { SharedFileCard } from "./shared-file-card.tsx"
import { SharedPreview } from "./shared-preview.tsx"
import type { Route } from "./+types/page.ts"

/** A file, shown and to download: it needs no JavaScript. */
export const handle = { credential: "none", static: true }

export const headers: Route.HeadersFunction = secretHeaders

export async function loader({ context, params, request }: Route.LoaderArgs) {
  const shared = await orErrorPage(() => visitShare(servicesOf(context), params.token, request))
  return { ...shared, readings: await readShared(shared) }
}

/** A Markdown file, parsed within the limits of a conversation's replies. */
async function readShared({ file }: SharedFile): Promise<Readings> {
  if (file?.preview?.kind !== "text" || !isMarkdown(file)) return new Map()
  return readReplies([{ role: "assistant", parts: [{ type: "text", text: file.preview.text }] }])
}

export async function action(visit: Route.ActionArgs) {
  return unlock(fileLinks, visit)
}

export const meta: Route.MetaFunction = ({ loaderData, matches }) => [
  { title: `${loaderData?.file?.fileName ?? i18nOf(matches)._(msg`A shared file`)} · Tideline` },
  { name: "description", content: i18nOf(matches)._(msg`Somebody shared a file with you`) },
  { name: "robots", content: "noindex, nofollow" },
]

export default function Share({ loaderData, actionData, params }: Route.ComponentProps) {
  const { t } = useLingui()
  const { sharedBy, file, readings } = loaderData
  const { token } = params
  return (
    <LinkFrame width={file?.preview ? "page" : "card"}>
      <h1 className="mb-4 text-xl font-semibold break-words">
        {sharedBy ? t`${sharedBy} shared a file with you` : t`Somebody shared a file with you`}
      </h1>
      {file ? (
        <SharedFileCard file={file} address={href("/share/:token/download", { token })}>
          {file.preview ? (
            <SharedPreview
              shown={file.preview}
              readings={readings}
              fileName={file.fileName}
              address={href("/share/:token/preview", { token })}
            />
          ) : null}
        </SharedFileCard>
      ) : (
        <PasswordCard error={actionData?.error}>
          <Trans>Show the file</Trans>
        </PasswordCard>
      )}
    </LinkFrame>
  )
}

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  return <DeadLink error={error} />
}
