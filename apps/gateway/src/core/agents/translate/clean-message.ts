const CHARACTERS_MAX = 300

/** In this order: a URL may carry a key, and what is left of a masked key must not read as text. */
const SECRETS: readonly RegExp[] = [
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/\S+/gi,
  /\bbearer\s+\S+/gi,
  /\b(?:sk|pk|pat|fastgpt|tl)[-_][\w*.-]+/gi,
  /\bapp-[A-Za-z0-9*]{8,}/g,
  /\beyJ[\w-]+\.[\w.-]+/g,
  // Long opaque words with digits: keys of makers we do not know.
  /\b(?=[\w-]{0,80}\d)[\w-]{32,}/g,
  /\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g,
  /\b(?:localhost|[\w-]+(?:\.[\w-]+)+):\d{2,5}\b/gi,
]

/** One line of a platform's text that a client may see: no addresses, nothing like a key, at most 300 characters. */
export function cleanMessage(text: string): string | undefined {
  // The cut before the patterns bounds their work: a body may be long.
  let clean = text
    .slice(0, 2000)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_C}]+/gu, ' ')
  for (const secret of SECRETS) clean = clean.replace(secret, '…')
  clean = clean.replace(/\s+/g, ' ').trim()
  // By code points, so that no surrogate pair is cut.
  const characters = Array.from(clean)
  const line =
    characters.length > CHARACTERS_MAX ? `${characters.slice(0, CHARACTERS_MAX - 1).join('')}…` : clean
  return line === '' ? undefined : line
}
