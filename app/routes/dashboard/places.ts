import type { IconName } from "#app/ui/icon.tsx"

/** Where the dashboard's navigation leads. `end` where only the address itself is the place, and none below it. */
export const places: { to: string; label: string; icon: IconName; end: boolean }[] = [
  { to: "/dashboard", label: "Home", icon: "home", end: true },
  { to: "/dashboard/chat", label: "Chat", icon: "chat", end: false },
  { to: "/dashboard/files", label: "Files", icon: "folder", end: false },
]
