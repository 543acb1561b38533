import { SignUp } from "@clerk/react-router"

export default function ClerkSignUp({ target }: { target: string }) {
  return <SignUp routing="path" path="/sign-up" signInUrl="/sign-in" fallbackRedirectUrl={target} />
}
