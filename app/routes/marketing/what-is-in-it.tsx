import type { MessageDescriptor } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { href, Link } from "react-router"
import { Icon, type IconName } from "#app/ui/icon.tsx"

/** The parts of the product, one card each. */
export function WhatIsInIt() {
  const { t } = useLingui()
  return (
    <ul className="grid gap-px overflow-hidden rounded-xl border border-line bg-line sm:grid-cols-2 lg:grid-cols-3">
      {parts.map(({ icon, title, text, place }) => (
        <li key={place} className="relative bg-surface p-6 transition-colors hover:bg-canvas sm:p-7">
          <Icon name={icon} className="size-5 text-accent-ink" />
          <h3 className="mt-4 font-semibold">
            <Link to={href("/features") + `#${place}`} className="after:absolute after:inset-0">
              {t(title)}
            </Link>
          </h3>
          <p className="mt-1.5 text-muted">{t(text)}</p>
        </li>
      ))}
    </ul>
  )
}

const parts: { icon: IconName; title: MessageDescriptor; text: MessageDescriptor; place: string }[] = [
  {
    icon: "sparkle",
    title: msg`AI chat`,
    text: msg`Replies stream from any OpenAI-compatible gateway, also one on your own machine. It can look up your files, and keeps within the limits you set.`,
    place: "chat",
  },
  {
    icon: "people",
    title: msg`Spaces and mentions`,
    text: msg`Conversations and files that a team shares, with roles and invitations. Mention a colleague, and they are notified wherever they are signed in.`,
    place: "spaces",
  },
  {
    icon: "folder",
    title: msg`Files`,
    text: msg`Uploads that resume, previews, links to share, a trash, and a quota for each plan. The type is detected from the content, not the name.`,
    place: "files",
  },
  {
    icon: "key",
    title: msg`Sign-in with passkeys`,
    text: msg`Passkeys, passwords, two-factor authentication and single sign-on are built in. Set two keys and Clerk takes over, plans included.`,
    place: "sign-in",
  },
  {
    icon: "code",
    title: msg`An HTTP API`,
    text: msg`API keys with permissions, exact rate limits reported in headers, and an OpenAPI document generated from the schemas that validate requests.`,
    place: "api",
  },
  {
    icon: "shield",
    title: msg`Built for operators`,
    text: msg`One process and one PostgreSQL. Backups to any moment, every invalid setting reported at startup, and a shutdown that lets work finish.`,
    place: "operation",
  },
]
