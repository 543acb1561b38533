import { msg } from "@lingui/core/macro"
import { Link } from "react-router"
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
    description: msg`The cookies that this server sets: they keep you signed in, and remember your browser, your language and your colours. None of them tracks you.`,
    path: "/cookies",
  })

export default function Cookies({ loaderData }: Route.ComponentProps) {
  return (
    <LegalPage title="Cookies" changed="22 November 2026">
      <p>
        There is no banner here because there is nothing to consent to: this server sets only cookies that do
        what you asked for. Without signing in and without choosing a language or colours you get none.
      </p>
      <div className="scroller" tabIndex={0} role="region" aria-label="The cookies">
        <table>
          <thead>
            <tr>
              <th scope="col">Cookie</th>
              <th scope="col">What for</th>
              <th scope="col">How long</th>
            </tr>
          </thead>
          <tbody>
            {loaderData.isClerk ? (
              <tr>
                <td>
                  Clerk's, such as <code>__session</code> and <code>__client_uat</code>
                </td>
                <td>Keep you signed in. Set by Clerk, which keeps the accounts of this server.</td>
                <td>As Clerk decides; they end when you sign out.</td>
              </tr>
            ) : (
              <tr>
                <td>
                  <code>tideline.session_token</code>
                </td>
                <td>
                  Keeps you signed in. Scripts cannot read it. On an encrypted address its name begins with{" "}
                  <code>__Secure-</code>.
                </td>
                <td>Seven days after your last visit, or until you sign out.</td>
              </tr>
            )}
            {loaderData.isClerk ? null : (
              <tr>
                <td>
                  <code>tideline.known_browser</code>
                </td>
                <td>
                  Says that your account was opened in this browser before, so that nobody can lock you out of
                  it by guessing your password elsewhere. It opens nothing.
                </td>
                <td>A year after you last signed in.</td>
              </tr>
            )}
            <tr>
              <td>
                <code>theme</code>
              </td>
              <td>Remembers whether you chose light or dark. Choosing “as the system” deletes it.</td>
              <td>A year.</td>
            </tr>
            <tr>
              <td>
                <code>language</code>
              </td>
              <td>
                Remembers the language that you chose. Until you choose, it is the one that your browser asks
                for.
              </td>
              <td>A year.</td>
            </tr>
            <tr>
              <td>
                <code>share_password</code>, <code>share_download</code>
              </td>
              <td>
                Set by a link that somebody shared with you, and sent to that link alone: that you know its
                password, and that your download is counted, so that a lost connection does not cost you a
                second one.
              </td>
              <td>Half an hour, and a day.</td>
            </tr>
            <tr>
              <td>
                <code>tideline-maintenance</code>
              </td>
              <td>
                Lets the operator in while the server is closed for maintenance. It is set only by the address
                that they get for it, and scripts cannot read it.
              </td>
              <td>Until the browser is closed; it opens nothing once the maintenance is over.</td>
            </tr>
          </tbody>
        </table>
      </div>
      <h2>What is kept in your browser besides</h2>
      <p>
        The dashboard keeps small things in your browser's own storage: the text of a message that you have
        not sent yet, which uploads are unfinished, and whether you switched the shortcuts of letters off.
        They stay on your device. The public pages keep nothing. What the server itself stores is on the{" "}
        <Link to="/privacy">privacy page</Link>.
      </p>
    </LegalPage>
  )
}
