import { UserProfile } from "@clerk/react-router"

export default function ClerkAccountPage() {
  return (
    <div className="mt-5">
      <UserProfile routing="hash" />
    </div>
  )
}
