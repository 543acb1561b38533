import { ClerkLoading, SignIn } from "@clerk/react-router"
import type { ReactNode } from "react"

export default function ClerkSignIn({ target, loading }: { target: string; loading: ReactNode }) {
  return (
    <>
      <ClerkLoading>{loading}</ClerkLoading>
      <SignIn routing="path" path="/sign-in" signUpUrl="/sign-up" forceRedirectUrl={target} />
    </>
  )
}
