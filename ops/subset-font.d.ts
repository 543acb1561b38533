declare module "subset-font" {
  /** The glyphs of a text, in a font with the same tables. */
  export default function subsetFont(
    font: Buffer,
    text: string,
    options: { targetFormat: "woff2" },
  ): Promise<Buffer>
}
