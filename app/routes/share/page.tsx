import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { href } from "react-router"
import { PasswordCard } from "#app/features/links/password-card.tsx"
import { i18nOf } from "#app/language/i18n.ts"
import { visitShare } from "#server/files/share-visits.ts"
import { fileLinks } from "#server/files/shares.ts"
import { orErrorPage } from "#server/http/or-error-page.ts"
import { servicesOf } from "#server/http/scope.ts"
import { DeadLink, LinkFrame } from "./frame.tsx"
import { secretHeaders, unlock } from "./gate.ts"
import { SharedFileCard } from "./shared-file-card.tsx"
import type { Route } from "./+types/page.ts"

/** A file and a download link: it needs no JavaScript. */
export const handle = { credential: "none", static: true }

export const headers: Route.HeadersFunction = secretHeaders

export async function loader({ context, params, request }: Route.LoaderArgs) {
  return orErrorPage(() => visitShare(servicesOf(context), params.token, request))
}

export async function action(visit: Route.ActionArgs) {
  return unlock(fileLinks, visit)
}

export const meta: Route.MetaFunction = ({ loaderData, matches }) => [
  { title: `${loaderData?.file?.fileName ?? i18nOf(matches)._(msg`A shared file`)} · Tideline` },
  { name: "description", content: i18nOf(matches)._(msg`A file is shared with you`) },
  { name: "robots", content: "noindex, nofollow" },
]

export default function Share({ loaderData, actionData, params }: Route.ComponentProps) {
  const { t } = useLingui()
  const { sharedBy, file } = loaderData
  return (
    <LinkFrame>
      <h1 className="mb-4 text-xl font-semibold break-words">
        {sharedBy ? t`${sharedBy} shares a file with you` : t`A file is shared with you`}
      </h1>
      {file ? (
        <SharedFileCard file={file} address={href("/share/:token/download", { token: params.token })} />
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
