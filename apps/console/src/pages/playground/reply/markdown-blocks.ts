/** An opening or closing fence of a code block. */
const FENCE = /^ {0,3}(`{3,}|~{3,})/
/** Begins what cannot belong to a list, a quotation or a table that stands before it. */
const FRESH_LINE = /^[^\s>|*+\-\d]/
/** A link or a footnote may be defined anywhere in the text. */
const DEFINITION = /^ {0,3}\[[^\]\n\r\u2028\u2029]+\]:/m

/**
 * Divides a Markdown text into pieces that mean the same alone as together, so that of an answer that grows only the last
 * piece has to be read again. A text with definitions, to which any piece may refer, is one piece.
 */
export function markdownBlocks(text: string): readonly string[] {
  if (DEFINITION.test(text)) return [text]
  const blocks: string[] = []
  let start = 0
  let fence: string | undefined
  let isAfterBlank = false
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at)
    const end = newline === -1 ? text.length : newline + 1
    const line = text.slice(at, end)
    if (fence === undefined && isAfterBlank && FRESH_LINE.test(line)) {
      blocks.push(text.slice(start, at))
      start = at
    }
    fence = fenceAfter(line, fence)
    isAfterBlank = line.trim() === ''
    at = end
  }
  if (start < text.length) blocks.push(text.slice(start))
  return blocks
}

/** The fence that is open after a line. It is closed by one of the same characters, as long or longer, with nothing after it. */
function fenceAfter(line: string, open: string | undefined): string | undefined {
  const found = FENCE.exec(line)?.[1]
  if (found === undefined) return open
  if (open === undefined) return found
  const isClosing = found.startsWith(open) && line.trim() === found
  return isClosing ? undefined : open
}
