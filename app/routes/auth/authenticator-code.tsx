import { Trans, useLingui } from "@lingui/react/macro"
import { TextLink } from "#app/ui/text-link.tsx"
import type { AuthenticatorSetup } from "#server/accounts/second-factor.ts"

/** Modules. Scanners need a quiet zone of this width around the code. */
const MARGIN = 4

/** Dark on white in every theme, because many scanners read nothing else. */
export function AuthenticatorCode({ setup: { uri, secret, qrCode } }: { setup: AuthenticatorSetup }) {
  const { t } = useLingui()
  const side = qrCode.size + 2 * MARGIN
  return (
    <div className="flex flex-col items-center gap-4">
      <svg
        role="img"
        aria-label={t`QR code for your authenticator app`}
        viewBox={`${-MARGIN} ${-MARGIN} ${side} ${side}`}
        shapeRendering="crispEdges"
        className="w-full max-w-56 rounded-md border border-line"
      >
        <rect x={-MARGIN} y={-MARGIN} width={side} height={side} fill="white" />
        <path d={qrCode.path} fill="black" />
      </svg>
      <div className="w-full text-sm text-muted">
        <p>
          <Trans>
            On this device? <TextLink to={uri}>Open your authenticator app</TextLink>. Or enter this key into
            it:
          </Trans>
        </p>
        <p className="mt-2 rounded-md bg-sunken p-3 font-mono text-sm break-words text-ink">{secret}</p>
      </div>
    </div>
  )
}
