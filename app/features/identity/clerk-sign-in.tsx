import { ClerkLoading, SignIn } from "@clerk/react-router"
import type { ReactNode } from "react"
import { SIGN_IN, SIGN_UP } from "./addresses.ts"

export default function ClerkSignIn({ target, loading }: { target: string; loading: ReactNode }) {
  return (
    <>
      <ClerkLoading>{loading}</ClerkLoading>
      <SignIn routing="path" path={SIGN_IN} signUpUrl={SIGN_UP} forceRedirectUrl={target} />
    </>
  )
}
