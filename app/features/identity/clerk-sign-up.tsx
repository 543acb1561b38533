import { ClerkLoading, SignUp } from "@clerk/react-router"
import type { ReactNode } from "react"

export default function ClerkSignUp({ target, loading }: { target: string; loading: ReactNode }) {
  return (
    <>
      <ClerkLoading>{loading}</ClerkLoading>
      <SignUp routing="path" path="/sign-up" signInUrl="/sign-in" forceRedirectUrl={target} />
    </>
  )
}
