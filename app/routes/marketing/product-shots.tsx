import { msg } from "@lingui/core/macro"
import { Trans } from "@lingui/react/macro"
import spaceDark from "./pictures/space-dark.avif"
import spaceLight from "./pictures/space-light.avif"
import phoneDark from "./pictures/space-phone-dark.avif"
import phoneLight from "./pictures/space-phone-light.avif"
import { Shot } from "./shot.tsx"

/** A space at work, on two screens. `npm run screenshots -- --site` takes the pictures. */
export function ProductShots() {
  return (
    <figure className="relative mt-12 pb-8 sm:mt-16">
      <Shot
        light={spaceLight}
        dark={spaceDark}
        size={[1240, 800]}
        alt={msg`A conversation of the space “Harbour team”: Grant's question, a reply with a table of tides, and Ada's message that mentions Grant.`}
        className="rounded-xl"
      />
      <div className="absolute right-0 -bottom-2 hidden w-[17%] sm:block lg:-right-4">
        <Shot
          light={phoneLight}
          dark={phoneDark}
          size={[390, 800]}
          alt={msg`The same conversation on a phone.`}
          className="rounded-[1.1rem]"
        />
      </div>
      <figcaption className="mt-6 text-center text-sm text-muted">
        <Trans>Two people, three screens, one row in PostgreSQL.</Trans>
      </figcaption>
    </figure>
  )
}
