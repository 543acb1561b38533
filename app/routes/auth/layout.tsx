import { Outlet } from "react-router"
import { Logo } from "#app/ui/logo.tsx"
import { Water } from "#app/ui/water.tsx"

/** The frame of sign-in and sign-up: one thing in the middle, and the way home. */
export default function AuthLayout() {
  return (
    <div className="relative isolate flex min-h-dvh flex-col overflow-clip px-5 sm:px-8">
      <Water />
      <header className="py-5">
        <a
          href="/"
          className="-mx-1 inline-flex min-h-11 items-center rounded-md px-1 text-lg"
          aria-label="Tideline, start page"
        >
          <Logo name="Tideline" />
        </a>
      </header>
      <main className="mx-auto flex w-full max-w-sm flex-1 flex-col justify-center pt-4 pb-36 sm:pb-48">
        <Outlet />
      </main>
    </div>
  )
}
