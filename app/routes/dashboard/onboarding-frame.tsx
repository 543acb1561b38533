import type { MessageDescriptor } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { useEffect, useRef, type ReactNode } from "react"
import { href } from "react-router"
import { classNames } from "#app/ui/class-names.ts"
import { Icon } from "#app/ui/icon.tsx"
import { Logo } from "#app/ui/logo.tsx"
import { Water } from "#app/ui/water.tsx"
import type { OnboardingStep } from "#server/users/contract.ts"
import { UserMenu } from "./user-menu.tsx"

/**
 * The page around an onboarding step. When a step replaces another, its heading takes the focus, so
 * that screen readers continue from there.
 */
export function OnboardingFrame({ step, children }: { step: OnboardingStep; children: ReactNode }) {
  const body = useRef<HTMLDivElement>(null)
  const shown = useRef(step)
  useEffect(() => {
    if (shown.current === step) return
    shown.current = step
    body.current?.querySelector("h1")?.focus()
  }, [step])

  return (
    <div className="relative isolate flex min-h-dvh flex-col overflow-clip px-5 sm:px-8">
      <Water />
      <header className="flex h-[calc(4.5rem+env(safe-area-inset-top))] shrink-0 items-center justify-between pt-[env(safe-area-inset-top)]">
        <a href={href("/")} className="-mx-1 flex min-h-11 items-center rounded-md px-1">
          <Logo name="Tideline" />
        </a>
        <UserMenu place="top" />
      </header>
      <main className="mx-auto flex w-full max-w-xl flex-1 flex-col pt-6 pb-32 sm:pt-[9vh]">
        <Progress step={step} />
        <div
          ref={body}
          key={step}
          className="mt-10 transition-[opacity,translate] duration-200 ease-out starting:translate-y-1 starting:opacity-0"
        >
          {children}
        </div>
      </main>
    </div>
  )
}

const stages = [
  { step: "welcome", label: msg`Welcome` },
  { step: "profile", label: msg`Your name` },
  { step: "first-steps", label: msg`First steps` },
] as const satisfies { step: OnboardingStep; label: MessageDescriptor }[]

function Progress({ step }: { step: OnboardingStep }) {
  const { t } = useLingui()
  const at = stages.findIndex((stage) => stage.step === step)
  return (
    <nav aria-label={t`Progress`}>
      <ol className="grid grid-cols-3 gap-2.5">
        {stages.map((stage, index) => (
          <li
            key={stage.step}
            aria-current={index === at ? "step" : undefined}
            className={classNames(
              "border-t-2 pt-2.5 text-sm transition-colors duration-300",
              index <= at ? "border-accent" : "border-line-strong",
              index === at ? "font-medium text-ink" : "text-faint",
            )}
          >
            <span className="flex items-center gap-1.5">
              {t(stage.label)}
              {index < at ? (
                <>
                  <Icon name="check" className="size-3.5 text-accent-ink" />
                  <span className="sr-only">
                    <Trans>, finished</Trans>
                  </span>
                </>
              ) : null}
            </span>
          </li>
        ))}
      </ol>
    </nav>
  )
}
