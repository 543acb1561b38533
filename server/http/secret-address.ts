/**
 * Headers for pages whose URL contains a secret: no cache stores them, and no other site gets the
 * URL as a referrer. It is not `no-referrer`, because then our own forms would send `Origin: null`
 * and be refused as cross-site.
 */
export const SECRET_ADDRESS = { "Cache-Control": "private, no-store", "Referrer-Policy": "same-origin" }
