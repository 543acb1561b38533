import { SignIn } from "@clerk/react-router"

export default function ClerkSignIn({ target }: { target: string }) {
  return <SignIn routing="path" path="/sign-in" signUpUrl="/sign-up" fallbackRedirectUrl={target} />
}
