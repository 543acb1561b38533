import { data, href } from "react-router"
import { Logo } from "#app/ui/logo.tsx"
import { ThemeToggle } from "#app/ui/theme-toggle.tsx"
import { ToastProvider } from "#app/ui/toast.tsx"
import { servicesContext } from "#server/context.ts"
import { readTheme } from "#server/transport/theme.ts"
import { Buttons, Fields } from "./fields.tsx"
import { Overlays } from "./overlays.tsx"
import { Icons, Tokens } from "./tokens.tsx"
import { Waiting, Words } from "./words.tsx"
import type { Route } from "./+types/controls.ts"

/**
 * Every token, and every control in every state, for developing them. Available in development
 * only.
 */
export function loader({ context, request }: Route.LoaderArgs) {
  if (context.get(servicesContext).config.production) throw data(null, { status: 404 })
  return { theme: readTheme(request) }
}

export const meta: Route.MetaFunction = () => [{ title: "Controls · Tideline" }]

export default function Controls({ loaderData }: Route.ComponentProps) {
  return (
    <ToastProvider>
      <main className="mx-auto grid max-w-4xl grid-cols-1 gap-14 px-5 py-12 sm:px-8">
        <div className="flex items-center justify-between">
          <h1>
            <Logo name="Controls" className="text-2xl" />
          </h1>
          <ThemeToggle theme={loaderData.theme} action={href("/theme")} from={href("/_ui")} />
        </div>
        <Tokens />
        <Buttons />
        <Fields />
        <Words />
        <Overlays />
        <Waiting />
        <Icons />
      </main>
    </ToastProvider>
  )
}
