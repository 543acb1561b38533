import { Trans, useLingui } from "@lingui/react/macro"
import { buttonClass } from "#app/ui/button.tsx"

/** The codes, with a download link that needs no JavaScript. */
export function RecoveryCodeList({ codes }: { codes: readonly string[] }) {
  const { t } = useLingui()
  return (
    <>
      <ul className="grid grid-cols-2 gap-x-6 gap-y-2 rounded-md bg-sunken p-4 font-mono text-sm">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <a
        href={`data:text/plain;charset=utf-8,${encodeURIComponent(`${codes.join("\n")}\n`)}`}
        download={`${t`Tideline recovery codes`}.txt`}
        className={buttonClass({ variant: "secondary" }, "mt-4 w-full")}
      >
        <Trans>Download as a text file</Trans>
      </a>
    </>
  )
}
