import { messages as admin } from "./admin.po"
import { messages as site } from "./site.po"

/** The catalogues of pages that ship no React. */
export const catalogues = [site, admin]
