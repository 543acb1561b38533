import { Icon, iconNames } from "#app/ui/icon.tsx"
import { Group } from "./group.tsx"

/**
 * All design tokens; app.css describes each. Tailwind only generates classes that occur in full in
 * a source file.
 */
export function Tokens() {
  return (
    <>
      <Group title="Colours">
        <Swatches colours={surfaces} />
        <Swatches colours={tones} />
        <div className="grid gap-1 text-sm">
          <p className="text-ink">Ink is for what is read.</p>
          <p className="text-muted">Muted is for what explains.</p>
          <p className="text-faint">Faint is for what may be passed over.</p>
          <p className="text-accent-ink">Accent ink is for links.</p>
        </div>
      </Group>
      <Group title="Type">
        <ul className="grid gap-3">
          {sizes.map(([name, className]) => (
            <li key={name} className="flex min-w-0 items-baseline gap-5">
              <code className="w-16 shrink-0 font-mono text-xs text-faint">{name}</code>
              <span className={`${className} min-w-0 truncate`}>High water is at twelve past six</span>
            </li>
          ))}
        </ul>
      </Group>
      <Group title="Radius and shadow">
        <ul className="flex flex-wrap gap-5">
          {radii.map((className) => (
            <li
              key={className}
              className={`${className} grid h-16 w-28 place-items-center border border-line-strong bg-surface text-xs text-muted`}
            >
              {className}
            </li>
          ))}
          {shadows.map((className) => (
            <li
              key={className}
              className={`${className} grid h-16 w-28 place-items-center rounded-lg border border-line bg-raised text-xs text-muted`}
            >
              {className}
            </li>
          ))}
        </ul>
      </Group>
    </>
  )
}

const surfaces = [
  "bg-canvas",
  "bg-surface",
  "bg-raised",
  "bg-sunken",
  "bg-hover",
  "bg-line",
  "bg-line-strong",
]

const tones = [
  "bg-accent",
  "bg-accent-strong",
  "bg-accent-soft",
  "bg-accent-line",
  "bg-danger",
  "bg-danger-soft",
  "bg-danger-line",
  "bg-success",
  "bg-success-soft",
  "bg-success-line",
  "bg-warning",
  "bg-warning-soft",
  "bg-warning-line",
]

const sizes = [
  ["xs", "text-xs"],
  ["sm", "text-sm"],
  ["base", "text-base"],
  ["lg", "text-lg"],
  ["xl", "text-xl font-semibold"],
  ["2xl", "text-2xl font-semibold"],
  ["3xl", "text-3xl font-semibold"],
  ["4xl", "text-4xl font-semibold"],
  ["mono", "font-mono text-sm"],
] as const

const radii = ["rounded-sm", "rounded-md", "rounded-lg", "rounded-xl", "rounded-full"]
const shadows = ["shadow-sm", "shadow-md", "shadow-lg"]

function Swatches({ colours }: { colours: readonly string[] }) {
  return (
    <ul className="grid grid-cols-[repeat(auto-fill,minmax(7rem,1fr))] gap-3 text-xs text-muted">
      {colours.map((className) => (
        <li key={className} className="grid gap-1.5">
          <span className={`${className} h-12 rounded-md border border-line-strong`} />
          {className.slice("bg-".length)}
        </li>
      ))}
    </ul>
  )
}

export function Icons() {
  return (
    <Group title="Icons">
      <ul className="grid grid-cols-[repeat(auto-fill,minmax(6.5rem,1fr))] gap-2">
        {iconNames.map((name) => (
          <li
            key={name}
            className="grid justify-items-center gap-2 rounded-md border border-line p-3 text-xs text-muted"
          >
            <Icon name={name} className="size-5 text-ink" />
            {name}
          </li>
        ))}
      </ul>
    </Group>
  )
}
