import { Link } from "react-router"
import { Icon, type IconName } from "#app/ui/icon.tsx"

/** The parts of the product, one card each. */
export function WhatIsInIt() {
  return (
    <ul className="grid gap-px overflow-hidden rounded-xl border border-line bg-line sm:grid-cols-2 lg:grid-cols-3">
      {parts.map(({ icon, title, text, place }) => (
        <li key={title} className="relative bg-surface p-6 transition-colors hover:bg-canvas sm:p-7">
          <Icon name={icon} className="size-5 text-accent-ink" />
          <h3 className="mt-4 font-semibold">
            <Link to={`/features#${place}`} className="after:absolute after:inset-0">
              {title}
            </Link>
          </h3>
          <p className="mt-1.5 text-muted">{text}</p>
        </li>
      ))}
    </ul>
  )
}

const parts: { icon: IconName; title: string; text: string; place: string }[] = [
  {
    icon: "waves",
    title: "Live records",
    text: "Lists and conversations follow the database. A page is drawn on the server with its rows and then goes live without asking again.",
    place: "live",
  },
  {
    icon: "key",
    title: "Sign-in, yours or Clerk's",
    text: "E-mail and password, reset by mail and API keys are built in. Set two keys and Clerk takes over, plans included.",
    place: "sign-in",
  },
  {
    icon: "sparkle",
    title: "AI chat",
    text: "Streams from any OpenAI-compatible gateway, uses tools such as looking up your files, and keeps within the limits you set.",
    place: "chat",
  },
  {
    icon: "folder",
    title: "Files",
    text: "Upload, list, rename, download and delete, with a quota per plan. The type is read from the bytes, not believed from the name.",
    place: "files",
  },
  {
    icon: "code",
    title: "An HTTP API",
    text: "Bearer keys, exact rate limits with headers that say so, and an OpenAPI document made from the schemas that check the requests.",
    place: "api",
  },
  {
    icon: "shield",
    title: "Made to be operated",
    text: "Every wrong setting named at the start, migrations under a lock, a strict content security policy, and a shutdown that lets work finish.",
    place: "operation",
  },
]
