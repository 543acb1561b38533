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
    icon: "waves",
    title: msg`Live records`,
    text: msg`Lists and conversations follow the database. A page is rendered on the server with its rows and then goes live without asking again.`,
    place: "live",
  },
  {
    icon: "key",
    title: msg`Sign-in, yours or Clerk's`,
    text: msg`Email and password, password reset and API keys are built in. Set two keys and Clerk takes over, plans included.`,
    place: "sign-in",
  },
  {
    icon: "sparkle",
    title: msg`AI chat`,
    text: msg`Streams from any OpenAI-compatible gateway, uses tools such as looking up your files, and keeps within the limits you set.`,
    place: "chat",
  },
  {
    icon: "folder",
    title: msg`Files`,
    text: msg`Upload, list, rename, download and delete, with a quota per plan. The type is detected from the content, not the name.`,
    place: "files",
  },
  {
    icon: "code",
    title: msg`An HTTP API`,
    text: msg`API keys, exact rate limits reported in headers, and an OpenAPI document generated from the schemas that validate requests.`,
    place: "api",
  },
  {
    icon: "shield",
    title: msg`Built for operators`,
    text: msg`Every invalid setting reported at startup, migrations under a lock, a strict content security policy, and a shutdown that lets work finish.`,
    place: "operation",
  },
]
