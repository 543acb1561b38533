import { Trans } from "@lingui/react/macro"
import { useDeviceName } from "#app/features/identity/use-device-name.ts"

interface Device {
  _id: string
  label: string
}

/** Which of the user's devices have a live connection now. */
export function ConnectedDevices({ devices }: { devices: readonly Device[] }) {
  const nameOf = useDeviceName()
  if (devices.length === 0) return null
  return (
    <section
      aria-labelledby="devices"
      className="mt-5 flex flex-wrap items-center gap-x-4 gap-y-2 px-1 text-sm text-muted"
    >
      <h2 id="devices">
        <Trans>Your devices online</Trans>
      </h2>
      <ul className="contents">
        {[...Map.groupBy(devices, ({ label }) => label)].map(([label, alike]) => (
          <li key={label} className="flex items-center gap-2">
            <span aria-hidden="true" className="size-2 rounded-full bg-success" />
            {alike.length > 1 ? `${nameOf(label)} (${alike.length})` : nameOf(label)}
          </li>
        ))}
      </ul>
    </section>
  )
}
