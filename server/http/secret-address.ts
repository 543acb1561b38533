/**
 * For pages whose address holds a secret: no cache keeps them, and no other site is told of it. Our own forms still say where they come
 * from, without which they would be taken for another site's.
 */
export const SECRET_ADDRESS = { "Cache-Control": "private, no-store", "Referrer-Policy": "same-origin" }
