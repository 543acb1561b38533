import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { href, Link } from "react-router"
import { LanguageChoice } from "#app/ui/language-choice.tsx"
import { Logo } from "#app/ui/logo.tsx"
import { ThemeToggle, type Theme } from "#app/ui/theme-toggle.tsx"

/** The footer of the public pages: links, language and colours. */
export function SiteFooter({
  theme,
  path,
  docs,
  hasWaitlist,
}: {
  theme: Theme
  path: string
  docs: string
  hasWaitlist: boolean
}) {
  const { t } = useLingui()
  return (
    <footer className="border-t border-line bg-sunken">
      <div className="mx-auto grid max-w-6xl gap-x-8 gap-y-10 px-5 py-14 max-md:grid-cols-2 sm:px-8 md:grid-cols-[1.6fr_1fr_1fr_1fr]">
        <div className="max-w-xs max-md:col-span-2">
          <Logo name="Tideline" />
          <p className="mt-3 text-sm text-muted">
            <Trans>A web application on your own server, where every record on the screen is live.</Trans>
          </p>
        </div>
        {groups(docs, hasWaitlist).map(({ id, title, links }) => (
          <nav key={id} aria-label={t(title)}>
            <p className="text-sm font-medium">{t(title)}</p>
            <ul className="mt-2">
              {links.map(({ to, label }) => (
                <li key={to}>
                  <Link
                    to={to}
                    reloadDocument={to.endsWith(".xml")}
                    className="inline-flex min-h-8 items-center rounded-sm text-sm text-muted hover:text-ink touch:min-h-11"
                  >
                    {t(label)}
                  </Link>
                </li>
              ))}
            </ul>
          </nav>
        ))}
      </div>
      <div className="mx-auto max-w-6xl px-5 sm:px-8">
        <div className="flex flex-wrap items-center justify-between gap-4 border-t border-line py-6">
          <p className="text-sm text-faint">
            <Trans>Tideline is free software under the MIT licence.</Trans>
          </p>
          <div className="flex flex-wrap items-center gap-3">
            <LanguageChoice action={href("/language")} from={path} />
            <ThemeToggle theme={theme} action={href("/theme")} from={path} />
          </div>
        </div>
      </div>
    </footer>
  )
}

function groups(docs: string, hasWaitlist: boolean) {
  return [
    {
      id: "product",
      title: msg`Product`,
      links: [
        { to: href("/features"), label: msg`Features` },
        { to: href("/pricing"), label: msg`Plans` },
        ...(hasWaitlist ? [{ to: href("/waitlist"), label: msg`Waitlist` }] : []),
        { to: href("/about"), label: msg`About` },
      ],
    },
    {
      id: "read",
      title: msg`Read`,
      links: [
        { to: docs, label: msg`Documentation` },
        { to: href("/blog"), label: msg`Blog` },
        { to: href("/blog/feed.xml"), label: msg`RSS feed` },
      ],
    },
    {
      id: "legal",
      title: msg`Legal`,
      links: [
        { to: href("/privacy"), label: msg`Privacy` },
        { to: href("/terms"), label: msg`Terms` },
        { to: href("/cookies"), label: msg`Cookies` },
      ],
    },
  ]
}
