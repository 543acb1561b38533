import { ClerkLoading, SignUp } from "@clerk/react-router"
import type { ReactNode } from "react"
import { SIGN_IN, SIGN_UP } from "./addresses.ts"

export default function ClerkSignUp({ target, loading }: { target: string; loading: ReactNode }) {
  return (
    <>
      <ClerkLoading>{loading}</ClerkLoading>
      <SignUp routing="path" path={SIGN_UP} signInUrl={SIGN_IN} forceRedirectUrl={target} />
    </>
  )
}
