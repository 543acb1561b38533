import { Fragment, type ReactNode } from "react"

/**
 * Renders the pieces of a text in order, with their index as the key: a growing text keeps the
 * pieces it began with.
 */
export function inOrder<Piece>(
  pieces: readonly Piece[] | undefined,
  render: (piece: Piece, place: number) => ReactNode,
): ReactNode {
  return pieces?.map((piece, place) => {
    // oxlint-disable-next-line react/no-array-index-key -- the place is what identifies a piece
    return <Fragment key={place}>{render(piece, place)}</Fragment>
  })
}
