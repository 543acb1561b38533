import { lazy, Suspense, type ReactNode } from "react"
import { Spinner } from "#app/ui/spinner.tsx"

// Clerk's browser code is fetched only where Clerk is the provider.
const Provider = lazy(() => import("./clerk-provider.tsx"))
const SignIn = lazy(() => import("./clerk-sign-in.tsx"))
const Account = lazy(() => import("./clerk-account.tsx"))
const SignUp = lazy(() => import("./clerk-sign-up.tsx"))

/** Puts Clerk around the page, with the `state` that the server has of it. Without a state there is no Clerk here. */
export function ClerkBoundary({ state, children }: { state: unknown; children: ReactNode }) {
  if (state === null || state === undefined) return children
  return (
    <Suspense>
      <Provider state={state}>{children}</Provider>
    </Suspense>
  )
}

/** `target` is where to go afterwards. */
export function ClerkSignIn({ target }: { target: string }) {
  return (
    <Suspense fallback={<Spinner label="Loading the sign-in" />}>
      <SignIn target={target} />
    </Suspense>
  )
}

export function ClerkSignUp({ target }: { target: string }) {
  return (
    <Suspense fallback={<Spinner label="Loading the sign-up" />}>
      <SignUp target={target} />
    </Suspense>
  )
}

/** Profile, password, sessions and keys, as Clerk shows them. */
export function ClerkAccount() {
  return (
    <Suspense fallback={<Spinner label="Loading your account" />}>
      <Account />
    </Suspense>
  )
}
