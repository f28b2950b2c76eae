import { parseJson } from './json.ts'

/** Frames longer than this carry more than words. */
const LEARNT_CHARACTERS_MAX = 4_096
/** Frames are a few levels deep; what is deeper is not looked through. */
const DEPTH_MAX = 8
/** How often a stream may show another frame before it is taken as it comes: each look at one costs three parses. */
const LOOKS = 6
const ANY_WORDS = 'any words'
const OTHER_WORDS = 'other words'
/** What stands in a string of JSON as it is. */
const PLAIN = /^[^"\\\p{Cc}]*$/u

/** A frame with a place for words in it. */
interface Template {
  readonly before: string
  readonly after: string
  readonly frame: unknown
  /** The keys that lead to the words. */
  readonly path: readonly string[]
}

/**
 * Parses the frames of one stream. Platforms repeat a frame again and again with other words in one place: what stands
 * around them is parsed once, and a frame that differs in nothing else is a copy with its own words.
 */
export class FrameParser {
  /** Of the frames that were looked at. */
  #last = ''
  #template: Template | undefined
  #looks = LOOKS

  /** As {@link parseJson}. What it gives shares parts with what it gave before. */
  parse(text: string): unknown {
    const template = this.#template
    if (template !== undefined) {
      const words = wordsOf(text, template)
      if (words !== undefined) {
        this.#looks = LOOKS
        return withWords(template.frame, template.path, 0, words)
      }
    }
    if (this.#looks > 0 && text !== this.#last && text.length <= LEARNT_CHARACTERS_MAX) {
      this.#looks -= 1
      this.#template = learn(this.#last, text) ?? template
      this.#last = text
    }
    return parseJson(text)
  }
}

/** Undefined where more than the words is another. */
function wordsOf(text: string, { before, after }: Template): string | undefined {
  const end = text.length - after.length
  // Equality compares many characters at once, `startsWith` one after the other.
  if (end < before.length || text.slice(0, before.length) !== before || text.slice(end) !== after)
    return undefined
  const words = text.slice(before.length, end)
  if (PLAIN.test(words)) return words
  // Escapes; a quotation mark among them would end the string, and this be no JSON.
  const parsed = parseJson(`"${words}"`)
  return typeof parsed === 'string' ? parsed : undefined
}

/** What two frames have in common, if it is a frame around one string. */
function learn(last: string, text: string): Template | undefined {
  const shorter = Math.min(last.length, text.length)
  let same = 0
  while (same < shorter && last.charCodeAt(same) === text.charCodeAt(same)) same += 1
  let sameAtEnd = 0
  while (
    sameAtEnd < shorter - same &&
    last.charCodeAt(last.length - 1 - sameAtEnd) === text.charCodeAt(text.length - 1 - sameAtEnd)
  ) {
    sameAtEnd += 1
  }
  const opening = text.lastIndexOf('"', same - 1)
  const closing = text.indexOf('"', text.length - sameAtEnd)
  if (opening < 0 || closing <= opening) return undefined
  const before = text.slice(0, opening + 1)
  const after = text.slice(closing)
  // Whether these quotation marks are the ends of one value is the parser's to say; twice, since the words that it is
  // asked with may stand elsewhere in the frame.
  const frameWith = (words: string) => parseJson(before + words + after)
  const frame = frameWith(ANY_WORDS)
  const places = pathsTo(ANY_WORDS, frame, [])
  const otherPlaces = pathsTo(OTHER_WORDS, frameWith(OTHER_WORDS), [])
  const [path] = places
  return path !== undefined && JSON.stringify(places) === JSON.stringify(otherPlaces)
    ? { before, after, frame, path }
    : undefined
}

function pathsTo(words: string, value: unknown, path: readonly string[]): readonly (readonly string[])[] {
  if (value === words) return [path]
  if (typeof value !== 'object' || value === null || path.length === DEPTH_MAX) return []
  return Object.entries(value).flatMap(([key, child]) => pathsTo(words, child, [...path, key]))
}

function withWords(value: unknown, path: readonly string[], depth: number, words: string): unknown {
  const key = path[depth]
  if (key === undefined) return words
  if (Array.isArray(value)) {
    const copy = value.slice()
    copy[Number(key)] = withWords(copy[Number(key)], path, depth + 1, words)
    return copy
  }
  const copy = { ...(value as Record<string, unknown>) }
  copy[key] = withWords(copy[key], path, depth + 1, words)
  return copy
}
