import { msg } from "@lingui/core/macro"
import { href, Link } from "react-router"
import { LegalPage } from "#app/features/site/legal-page.tsx"
import { pageMeta } from "#app/features/site/page-meta.ts"
import type { Route } from "./+types/terms.ts"

export const meta: Route.MetaFunction = ({ matches }) =>
  pageMeta(matches, {
    title: msg`Terms`,
    description: msg`The rules for using this server, what you can expect from it, and the licence of the software.`,
    path: href("/terms"),
  })

export default function Terms() {
  return (
    <LegalPage title="Terms" changed="20 November 2026">
      <p>
        These terms come with the software and hold between you and the operator of this server. The operator
        may replace or add to them.
      </p>
      <h2>Your account</h2>
      <p>
        Give an address at which mail reaches you, keep your password and your API keys to yourself, and tell
        the operator when somebody else has them. What is done with your account counts as done by you.
      </p>
      <h2>Your content</h2>
      <p>
        Your files and conversations stay yours. The server stores and shows them to you, and hands them on
        only as the <Link to={href("/privacy")}>privacy page</Link> says. Upload only what you may upload. Do
        not store or spread what is unlawful, harms others or attacks this or another system.
      </p>
      <h2>Answers of the assistant</h2>
      <p>
        Answers in the chat are made by a language model. They can be wrong, also when they sound certain.
        Check what matters before you rely on it.
      </p>
      <h2>Limits</h2>
      <p>
        Requests are limited per minute and files by size and quota;{" "}
        <Link to={href("/pricing")}>the plans</Link> say how much. The operator may close an account that
        breaks these rules or endangers the server.
      </p>
      <h2>The software</h2>
      <p>
        Tideline is provided under the MIT licence: you may use, copy, change and pass it on. It comes as it
        is, without warranty of any kind, and its authors are not liable for what comes of using it. Rights
        that the law gives you and that cannot be waived remain.
      </p>
      <h2>Leaving</h2>
      <p>
        You may stop at any time. Download what you want to keep first: when an account is deleted, its files
        and conversations are deleted with it.
      </p>
    </LegalPage>
  )
}
