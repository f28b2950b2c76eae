/** A piece of a text; with `href` it is the address of a page. */
export interface TextPart {
  readonly text: string
  readonly href?: string
}

/** Ends before what is punctuation of the sentence around it. */
const ADDRESS =
  /https?:\/\/[^\s<>"'`“”‘’，。；！？、（）《》「」]+[^\s<>"'`“”‘’，。；！？、（）《》「」.,;:!?)\]}*]/g

/** Finds the web addresses of a text. Nothing else becomes a link, so that a reply cannot hide where one leads. */
export function linkParts(text: string): readonly TextPart[] {
  const parts: TextPart[] = []
  let end = 0
  for (const { 0: address, index } of text.matchAll(ADDRESS)) {
    if (!URL.canParse(address)) continue
    if (index > end) parts.push({ text: text.slice(end, index) })
    parts.push({ text: address, href: address })
    end = index + address.length
  }
  if (end < text.length) parts.push({ text: text.slice(end) })
  return parts
}
