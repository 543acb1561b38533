import type { I18n, MessageDescriptor } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { href } from "react-router"
import { classNames } from "#app/ui/class-names.ts"
import { Icon } from "#app/ui/icon.tsx"
import { nextState, type Boat, type BoatState } from "#server/demo/contract.ts"
import script from "./live-demo.js?url&no-inline"

/**
 * Two panes on one table, each with a client of its own. The markup is complete without a script:
 * every row is a form. live-demo.js, which is loaded when the panes scroll into view, follows the
 * table and writes into the elements marked with `data-`.
 */
export function LiveDemo({ boats, refused }: { boats: readonly Boat[]; refused: "quick" | "failed" | null }) {
  const { t, i18n } = useLingui()
  const words = wordsOfScript(i18n)
  return (
    <figure id="live" data-demo={script} data-words={JSON.stringify(words)} className="scroll-mt-24">
      <div className="grid gap-4 md:grid-cols-[1.45fr_1fr] lg:gap-6">
        <Pane title={t`Harbour office`} place="office" boats={boats} />
        <Pane title={t`On the pier`} place="pier" boats={boats} />
      </div>
      <CommitLog />
      <p role="status" data-arrived="" className="sr-only" />
      <p role="alert" data-refusal="" className="mt-3 min-h-6 text-center text-sm text-danger-ink">
        {refused && words[refused]}
      </p>
      <figcaption className="mx-auto max-w-2xl text-center text-sm text-balance text-muted">
        <Trans>
          This is live, not a recording. Both panes follow one PostgreSQL table on this server over separate
          connections, and so does every other visitor. Change a state or a lamp. Boats reset after two
          minutes.
        </Trans>
        <noscript>
          {" "}
          <Trans>
            Your browser doesn't run scripts: each click submits a form, and the page reloads with the current
            table.
          </Trans>
        </noscript>
      </figcaption>
    </figure>
  )
}

function Pane({ title, place, boats }: { title: string; place: string; boats: readonly Boat[] }) {
  const count = boats.length
  return (
    <section
      aria-label={title}
      data-pane={place}
      className="group/pane flex flex-col overflow-hidden rounded-xl border border-line bg-surface shadow-lg"
    >
      <header className="flex h-12 items-center justify-between border-b border-line bg-sunken px-4 sm:px-5">
        <h2 className="text-sm font-medium">{title}</h2>
        <span className="flex items-center gap-2 text-xs text-faint group-data-[live]/pane:text-success-ink">
          <span className="size-1.5 rounded-full bg-line-strong group-data-[live]/pane:bg-success" />
          <span data-liveness="">
            <Trans>As of when the page was rendered</Trans>
          </span>
        </span>
      </header>
      <ul className="flex-1 divide-y divide-line">
        {boats.map((boat) => (
          <BoatRow key={boat.name} boat={boat} hasWater={place === "office"} />
        ))}
      </ul>
      <p
        data-lag=""
        className="h-9 truncate border-t border-line bg-sunken px-4 text-xs leading-9 text-faint tabular-nums sm:px-5"
      >
        <Trans>demo_boats, {count} rows</Trans>
      </p>
    </section>
  )
}

function BoatRow({ boat, hasWater }: { boat: Boat; hasWater: boolean }) {
  const { t } = useLingui()
  const { name, state, lamp } = boat
  const now = t(states[state])
  const next = t(states[nextState(state)])
  return (
    <li
      data-boat={name}
      data-state={state}
      data-lamp={lamp ? "on" : "off"}
      className="group/boat data-[changed]:animate-[lit_1.2s_ease-out]"
    >
      <form
        method="post"
        action={href("/demo")}
        className="flex min-h-16 items-center gap-3 px-4 sm:gap-4 sm:px-5"
      >
        <input type="hidden" name="boat" value={name} />
        <LampButton boat={boat} />
        <span className="min-w-0 flex-1 truncate font-medium sm:flex-none sm:basis-24">{name}</span>
        <span className={classNames("hidden flex-1", hasWater && "sm:block")}>
          <Water />
        </span>
        <button
          name="state"
          value={nextState(state)}
          aria-label={t`${name}: ${now}. Next: ${next}`}
          className={classNames(
            "ml-auto inline-flex h-9 min-w-33 items-center justify-between gap-2 rounded-full border px-3.5 text-sm font-medium transition-colors touch:min-h-11",
            "border-line-strong bg-surface hover:bg-hover",
            "group-data-[state='coming_in']/boat:border-warning-line group-data-[state='coming_in']/boat:bg-warning-soft group-data-[state='coming_in']/boat:text-warning-ink",
            "group-data-[state=moored]/boat:border-success-line group-data-[state=moored]/boat:bg-success-soft group-data-[state=moored]/boat:text-success-ink",
          )}
        >
          <span data-state-words="">{t(capitals[state])}</span>
          <Icon name="chevron-right" className="size-3.5 opacity-60" />
        </button>
      </form>
    </li>
  )
}

function LampButton({ boat: { name, lamp } }: { boat: Boat }) {
  const { t } = useLingui()
  return (
    <button
      name="lamp"
      value={lamp ? "off" : "on"}
      aria-pressed={lamp}
      aria-label={t`Lamp of ${name}`}
      className="grid size-9 shrink-0 place-items-center rounded-full transition-colors hover:bg-hover touch:size-11"
    >
      <span className="size-3 rounded-full border border-line-strong bg-sunken transition-[background-color,box-shadow] duration-300 group-data-[lamp=on]/boat:border-warning group-data-[lamp=on]/boat:bg-warning group-data-[lamp=on]/boat:shadow-[0_0_0_4px_var(--color-warning-soft),0_0_14px_2px_var(--color-warning)]" />
    </button>
  )
}

/** From the sea on the left to the quay on the right. */
function Water() {
  return (
    <span aria-hidden="true" className="relative mx-2 block h-4">
      <span className="absolute inset-x-0 top-1/2 border-t border-dashed border-line-strong" />
      <span className="absolute top-0 -right-1 h-4 w-1 rounded-sm bg-line-strong" />
      <span className="absolute inset-y-0 right-4 left-0">
        <span className="absolute top-1/2 left-0 size-2.5 -translate-y-1/2 rounded-full bg-accent transition-[left] duration-700 ease-out group-data-[state='coming_in']/boat:left-1/2 group-data-[state=moored]/boat:left-full" />
      </span>
    </span>
  )
}

/** What was committed while the page was open, latest first. */
function CommitLog() {
  return (
    <div className="mt-4 overflow-hidden rounded-lg border border-[oklch(0.33_0.02_235)] bg-[oklch(0.2_0.018_240)] font-mono text-xs leading-6 text-[oklch(0.93_0.01_220)] shadow-lg sm:text-[0.8125rem] lg:mt-6">
      <p className="flex justify-between border-b border-[oklch(0.29_0.02_235)] px-4 py-1.5 text-xs text-[oklch(0.74_0.015_225)]">
        <span>
          <Trans>what was committed</Trans>
        </span>
        <span className="hidden sm:inline">
          <Trans>and when both panes showed it</Trans>
        </span>
      </p>
      <ol data-log="" className="h-42 overflow-hidden px-4 py-3 sm:h-30">
        <li className="text-[oklch(0.74_0.015_225)]">
          <Trans>-- nothing yet: change a state or a lamp</Trans>
        </li>
      </ol>
    </div>
  )
}

const capitals: Record<BoatState, MessageDescriptor> = {
  "at sea": msg`At sea`,
  "coming in": msg`Coming in`,
  moored: msg`Moored`,
}

const states: Record<BoatState, MessageDescriptor> = {
  "at sea": msg`at sea`,
  "coming in": msg`coming in`,
  moored: msg`moored`,
}

/** What live-demo.js writes into the page. It replaces the names in braces by its own values. */
function wordsOfScript(i18n: I18n) {
  const [name, now, next, milliseconds] = ["{name}", "{now}", "{next}", "{milliseconds}"]
  const count = "{count}"
  const inWords = (messages: Record<BoatState, MessageDescriptor>) =>
    Object.fromEntries(Object.entries(messages).map(([key, message]) => [key, i18n._(message)]))
  return {
    live: i18n._(msg`Live`),
    audience: i18n._(msg`Live on ${count} connections`),
    disconnected: i18n._(msg`Not connected`),
    states: inWords(states),
    capitals: inWords(capitals),
    button: i18n._(msg`${name}: ${now}. Next: ${next}`),
    mine: i18n._(msg`${name}: here ${milliseconds} ms after your click`),
    other: i18n._(msg`${name}: changed by somebody else, or reset`),
    notByYou: i18n._(msg`not by you`),
    arrived: i18n._(msg`${name} changed in both panes after ${milliseconds} milliseconds.`),
    quick: i18n._(msg`Too many clicks. Try again in a minute.`),
    failed: i18n._(msg`Something went wrong. Try again in a moment.`),
    unreachable: i18n._(msg`The server can't be reached.`),
  }
}
