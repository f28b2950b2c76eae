const CHARACTERS_MAX = 300

/** The order matters: a URL may contain a key, and a partly masked key must be removed as a whole. */
const SECRETS: readonly RegExp[] = [
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/\S+/gi,
  /\bbearer\s+\S+/gi,
  /\b(?:sk|pk|pat|fastgpt|tl)[-_][\w*.-]+/gi,
  /\bapp-[A-Za-z0-9*]{8,}/g,
  /\beyJ[\w-]{5}[\w.-]*/g,
  // Long opaque words with digits are probably keys in a format that we do not know.
  /\b(?=[\w-]{0,80}\d)[\w-]{32,}/g,
  /\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g,
  /\b(?:localhost|[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}):\d{2,5}\b/gi,
]

/**
 * Sanitizes a platform's text for clients: one line of at most 300 characters without addresses or anything
 * that looks like a key. Returns undefined if nothing is left.
 */
export function cleanMessage(text: string): string | undefined {
  // The text is cut first, so that a long body cannot make the patterns slow.
  let clean = text
    .slice(0, 2000)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_C}]+/gu, ' ')
  for (const secret of SECRETS) clean = clean.replace(secret, '…')
  clean = clean.replace(/\s+/g, ' ').trim()
  // Counts code points, so that no surrogate pair is cut in half.
  const characters = Array.from(clean)
  const line =
    characters.length > CHARACTERS_MAX ? `${characters.slice(0, CHARACTERS_MAX - 1).join('')}…` : clean
  return line === '' ? undefined : line
}
