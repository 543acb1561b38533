import { Fragment, type ReactNode } from "react"

/**
 * Pieces of a text, one after the other: each is known by its place alone, for a text that grows
 * keeps what it began with.
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
