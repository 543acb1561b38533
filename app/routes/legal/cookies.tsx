import { msg } from "@lingui/core/macro"
import type { ReactNode } from "react"
import { href, Link } from "react-router"
import { LegalPage } from "#app/features/site/legal-page.tsx"
import { pageMeta } from "#app/features/site/page-meta.ts"
import { servicesContext } from "#server/context.ts"
import type { Route } from "./+types/cookies.ts"

export function loader({ context }: Route.LoaderArgs) {
  return { isClerk: context.get(servicesContext).config.identity.kind === "clerk" }
}

export const meta: Route.MetaFunction = ({ matches }) =>
  pageMeta(matches, {
    title: msg`Cookies`,
    description: msg`The cookies that this server sets: they keep you signed in and remember your browser, language and theme. None of them tracks you.`,
    path: href("/cookies"),
  })

export default function Cookies({ loaderData }: Route.ComponentProps) {
  return (
    <LegalPage title="Cookies" changed="22 November 2026">
      <p>
        There is no banner here because there is nothing to consent to: this server sets only cookies that do
        what you asked for. Without signing in and without choosing a language or colours you get none.
      </p>
      <dl className="border-b border-line">
        {loaderData.isClerk ? (
          <Cookie
            name={
              <>
                Clerk's, such as <code>__session</code> and <code>__client_uat</code>
              </>
            }
            lasts="As Clerk decides; they end when you sign out."
          >
            Keep you signed in. Set by Clerk, which keeps the accounts of this server.
          </Cookie>
        ) : (
          <>
            <Cookie
              name={<code>tideline.session_token</code>}
              lasts="Seven days after your last visit, or until you sign out."
            >
              Keeps you signed in. Scripts cannot read it. On an encrypted address its name begins with{" "}
              <code>__Secure-</code>.
            </Cookie>
            <Cookie name={<code>tideline.known_browser</code>} lasts="A year after you last signed in.">
              Says that your account was opened in this browser before, so that nobody can lock you out of it
              by guessing your password elsewhere. It opens nothing.
            </Cookie>
            <Cookie name={<code>tideline.sign_up</code>} lasts="A day after you signed up.">
              Lets you confirm your address in the browser in which you signed up without choosing another
              password. It is set where an address must be confirmed before the account opens.
            </Cookie>
          </>
        )}
        <Cookie name={<code>theme</code>} lasts="A year.">
          Remembers whether you chose light or dark. Choosing “as the system” deletes it.
        </Cookie>
        <Cookie name={<code>language</code>} lasts="A year.">
          Remembers the language that you chose. Until you choose, it is the one that your browser asks for.
        </Cookie>
        <Cookie
          name={
            <>
              <code>share_password</code>, <code>share_download</code>
            </>
          }
          lasts="Half an hour, and a day."
        >
          Set by a link that somebody shared with you, and sent to that link alone: that you know its
          password, and that your download is counted, so that a lost connection does not cost you a second
          one.
        </Cookie>
        <Cookie
          name={<code>tideline-maintenance</code>}
          lasts="Until the browser is closed; it opens nothing once the maintenance is over."
        >
          Lets the operator in while the server is closed for maintenance. It is set only by the address that
          they get for it, and scripts cannot read it.
        </Cookie>
      </dl>
      <h2>What is kept in your browser besides</h2>
      <p>
        The dashboard keeps small things in your browser's own storage: the text of a message that you have
        not sent yet, which uploads are unfinished, and whether you switched the shortcuts of emails off. They
        stay on your device. The public pages keep nothing. What the server itself stores is on the{" "}
        <Link to={href("/privacy")}>privacy page</Link>.
      </p>
    </LegalPage>
  )
}

function Cookie({ name, lasts, children }: { name: ReactNode; lasts: string; children: ReactNode }) {
  return (
    <div className="gap-x-6 border-t border-line py-4 sm:grid sm:grid-cols-[13rem_1fr]">
      <dt>{name}</dt>
      <dd className="max-sm:mt-2">
        {children}
        <span className="mt-1.5 block text-sm text-muted">How long: {lasts}</span>
      </dd>
    </div>
  )
}
