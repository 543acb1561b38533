import { useAuth, useUser } from "@clerk/react-router"
import type { ReactNode } from "react"
import type { CreateOrUpdateUser } from "#server/users/contract.ts"

/** What Clerk's browser code knows about the signed-in user. The default export is for `lazy`. */
export default function ClerkSession({
  loading,
  children,
}: {
  loading: ReactNode
  children: (provider: CreateOrUpdateUser) => ReactNode
}) {
  const { isLoaded, has } = useAuth()
  const { user } = useUser()
  if (!isLoaded || !user) return loading
  return children({
    clerkId: user.id,
    email: user.primaryEmailAddress?.emailAddress ?? "",
    name: user.fullName,
    imageUrl: user.imageUrl,
    // An organisation's plan is not the user's.
    plan: has({ plan: "user:pro" }) ? "pro" : "free",
  })
}
