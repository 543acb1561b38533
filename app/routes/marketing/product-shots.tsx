import { msg } from "@lingui/core/macro"
import chatDark from "./pictures/chat-dark.avif"
import chatLight from "./pictures/chat-light.avif"
import filesDark from "./pictures/files-dark.avif"
import filesLight from "./pictures/files-light.avif"
import phoneDark from "./pictures/files-phone-dark.avif"
import phoneLight from "./pictures/files-phone-light.avif"
import { Shot } from "./shot.tsx"

/** Screenshots of the product. `npm run screenshots -- --site` takes them. */
export function ProductShots() {
  return (
    <div className="relative pb-4 lg:pb-24">
      <Shot
        light={chatLight}
        dark={chatDark}
        size={[1240, 800]}
        alt={msg`The chat: conversations on the left, and a reply with a table of tides and a highlighted query.`}
        className="rounded-xl"
      />
      <div className="mt-4 grid grid-cols-[1fr_29%] items-end gap-4 lg:absolute lg:-right-6 lg:bottom-0 lg:mt-0 lg:w-3/5">
        <Shot
          light={filesLight}
          dark={filesDark}
          size={[1240, 800]}
          alt={msg`The files page: search, types, and a list with thumbnails, sizes and times.`}
          className="rounded-lg"
        />
        <Shot
          light={phoneLight}
          dark={phoneDark}
          size={[390, 800]}
          alt={msg`The same files on a phone.`}
          className="rounded-[1.1rem]"
        />
      </div>
    </div>
  )
}
