import { Link } from "react-router"
import { Logo } from "#app/ui/logo.tsx"
import { ThemeToggle, type Theme } from "#app/ui/theme-toggle.tsx"

/** The foot of the public pages: where else to go, and the colours. */
export function SiteFooter({ theme, path, docs }: { theme: Theme; path: string; docs: string }) {
  return (
    <footer className="border-t border-line bg-sunken">
      <div className="mx-auto grid max-w-6xl gap-x-8 gap-y-10 px-5 py-14 sm:px-8 md:grid-cols-[1.6fr_1fr_1fr_1fr]">
        <div className="max-w-xs">
          <Logo name="Tideline" />
          <p className="mt-3 text-sm text-muted">
            A web application on your own server, where every record on the screen is live.
          </p>
        </div>
        {groups(docs).map(({ title, links }) => (
          <nav key={title} aria-label={title}>
            <p className="text-sm font-medium">{title}</p>
            <ul className="mt-2">
              {links.map(({ to, label }) => (
                <li key={label}>
                  <Link
                    to={to}
                    reloadDocument={to.endsWith(".xml")}
                    className="inline-flex min-h-8 items-center rounded-sm text-sm text-muted hover:text-ink touch:min-h-11"
                  >
                    {label}
                  </Link>
                </li>
              ))}
            </ul>
          </nav>
        ))}
      </div>
      <div className="mx-auto max-w-6xl px-5 sm:px-8">
        <div className="flex flex-wrap items-center justify-between gap-4 border-t border-line py-6">
          <p className="text-sm text-faint">Tideline is free software under the MIT licence.</p>
          <ThemeToggle theme={theme} action="/theme" from={path} />
        </div>
      </div>
    </footer>
  )
}

function groups(docs: string) {
  return [
    {
      title: "Product",
      links: [
        { to: "/features", label: "Features" },
        { to: "/pricing", label: "Pricing" },
        { to: "/waitlist", label: "Waitlist" },
        { to: "/about", label: "About" },
      ],
    },
    {
      title: "Read",
      links: [
        { to: docs, label: "Documentation" },
        { to: "/blog", label: "Blog" },
        { to: "/blog/feed.xml", label: "RSS feed" },
      ],
    },
    {
      title: "Legal",
      links: [
        { to: "/privacy", label: "Privacy" },
        { to: "/terms", label: "Terms" },
        { to: "/cookies", label: "Cookies" },
      ],
    },
  ]
}
