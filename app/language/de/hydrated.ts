import { messages as account } from "./account.po"
import { messages as auth } from "./auth.po"
import { messages as chat } from "./chat.po"
import { messages as dashboard } from "./dashboard.po"
import { messages as files } from "./files.po"
import { messages as refusals } from "./refusals.po"
import { messages as shared } from "./shared.po"

/** The catalogues of pages that React hydrates. */
export const catalogues = [shared, auth, account, dashboard, chat, files, refusals]
