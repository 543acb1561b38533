import { msg } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { lazy, Suspense, type ReactNode } from "react"
import { Spinner } from "#app/ui/spinner.tsx"
import { ClerkLoading } from "./clerk-loading.tsx"

// Clerk's browser code is loaded only if Clerk is the provider.
const Provider = lazy(() => import("./clerk-provider.tsx"))
const SignIn = lazy(() => import("./clerk-sign-in.tsx"))
const Account = lazy(() => import("./clerk-account.tsx"))
const SignUp = lazy(() => import("./clerk-sign-up.tsx"))

/**
 * Provides Clerk to the page, with the server's `state` of it. Without a state, Clerk is not the
 * provider.
 */
export function ClerkBoundary({ state, children }: { state: unknown; children: ReactNode }) {
  if (state === null || state === undefined) return children
  return (
    <Suspense>
      <Provider state={state}>{children}</Provider>
    </Suspense>
  )
}

const SIGN_IN = { title: msg`Sign in`, label: msg`Loading sign-in` }
const SIGN_UP = { title: msg`Sign up`, label: msg`Loading sign-up` }

/** `target` is the page to open after signing in. */
export function ClerkSignIn({ target }: { target: string }) {
  return (
    <Suspense fallback={<ClerkLoading {...SIGN_IN} />}>
      <SignIn target={target} loading={<ClerkLoading {...SIGN_IN} />} />
    </Suspense>
  )
}

export function ClerkSignUp({ target }: { target: string }) {
  return (
    <Suspense fallback={<ClerkLoading {...SIGN_UP} />}>
      <SignUp target={target} loading={<ClerkLoading {...SIGN_UP} />} />
    </Suspense>
  )
}

/** Clerk's own page for profile, password, sessions and keys. */
export function ClerkAccount() {
  const { t } = useLingui()
  return (
    <Suspense fallback={<Spinner label={t`Loading your account`} />}>
      <Account />
    </Suspense>
  )
}
