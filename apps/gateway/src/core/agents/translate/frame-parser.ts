import type { ChatEvent } from '#core/agents/events.ts'
import { parseJson } from '#core/base/values/json.ts'
import { parseLenientJson } from '#core/base/values/lenient-json.ts'

/** Longer frames carry more than a piece of text and rarely repeat. */
const TEMPLATE_CHARACTERS_MAX = 4_096
/** The text of a frame is a few levels deep; deeper levels are not searched. */
const DEPTH_MAX = 8
/**
 * How many attempts to find a template may fail before the stream is parsed normally: each costs three
 * parses.
 */
const ATTEMPTS = 6
const FIRST_PROBE = 'any words'
const SECOND_PROBE = 'other words'
/** A string without characters that JSON escapes, which therefore needs no parsing. */
const PLAIN = /^[^"\\\p{Cc}]*$/u

/** A frame in which one string varies. */
interface Template {
  readonly before: string
  readonly after: string
  readonly frame: unknown
  /** The keys that lead to the string. */
  readonly path: readonly string[]
  /** What the string is, in a frame that means its string and nothing else. */
  meaning: Piece['type'] | undefined
}

type Piece = Extract<ChatEvent, { type: 'text' | 'reasoning' }>

/**
 * Parses the frames of one stream. Platforms repeat the same frame with a different text in one place, often
 * a few characters in a frame of several hundred. What surrounds the text is parsed once; a frame that
 * differs only in the text becomes a copy of that frame. This saves parsing nearly every frame as a whole.
 */
export class FrameParser {
  /** The previous frame that did not match the template. */
  #last = ''
  #template: Template | undefined
  #attempts = ATTEMPTS
  /** Whether the last frame was a copy of the template's. */
  #isCopy = false

  /**
   * Returns the piece of a frame that differs only in its text from one that {@link FrameParser.meant} a piece, so that nothing
   * else of it needs to be read again. Undefined for an empty text and for every other frame.
   */
  piece(text: string): Piece | undefined {
    const template = this.#template
    if (template?.meaning === undefined) return undefined
    const content = match(text, template)
    return content ? { type: template.meaning, text: content } : undefined
  }

  /**
   * Reports what the last parsed frame meant. If that was the string at one of these places, such as `choices.0.delta.content`, and
   * nothing else, {@link FrameParser.piece} reads the frames that differ in it alone.
   */
  meant(events: readonly ChatEvent[], places: Readonly<Record<Piece['type'], readonly string[]>>): void {
    const template = this.#template
    const [event] = events
    if (!this.#isCopy || template === undefined || event === undefined || events.length > 1) return
    if (event.type !== 'text' && event.type !== 'reasoning') return
    template.meaning = places[event.type].includes(template.path.join('.')) ? event.type : undefined
  }

  /**
   * Returns the same as {@link parseJson}, or else as {@link parseLenientJson}, but results share objects with each other: callers must not change
   * them.
   */
  parse(text: string): unknown {
    const template = this.#template
    if (template !== undefined) {
      const content = match(text, template)
      if (content !== undefined) {
        this.#attempts = ATTEMPTS
        this.#isCopy = true
        return withContent(template.frame, template.path, 0, content)
      }
    }
    this.#isCopy = false
    if (this.#attempts > 0 && text !== this.#last && text.length <= TEMPLATE_CHARACTERS_MAX) {
      this.#attempts -= 1
      this.#template = findTemplate(this.#last, text) ?? template
      this.#last = text
    }
    return parseJson(text) ?? parseLenientJson(text)
  }
}

/** Returns the string in the template's place, or undefined if the frame differs in more than that. */
function match(text: string, { before, after }: Template): string | undefined {
  const end = text.length - after.length
  // Equality compares many characters at once; `startsWith` compares one after the other.
  if (end < before.length || text.slice(0, before.length) !== before || text.slice(end) !== after)
    return undefined
  const content = text.slice(before.length, end)
  if (PLAIN.test(content)) return content
  // Decodes escapes. An unescaped quotation mark ends the string early, and then this is not valid JSON.
  const parsed = parseJson(`"${content}"`)
  return typeof parsed === 'string' ? parsed : undefined
}

/** Returns what two frames have in common if they differ in one string only. */
function findTemplate(last: string, text: string): Template | undefined {
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
  // Only the parser can decide whether these quotation marks enclose one value. Two different strings are
  // tried, because either of them may by chance occur elsewhere in the frame.
  const frameWith = (content: string) => parseJson(before + content + after)
  const frame = frameWith(FIRST_PROBE)
  const firstPaths = pathsTo(FIRST_PROBE, frame, [])
  const secondPaths = pathsTo(SECOND_PROBE, frameWith(SECOND_PROBE), [])
  const [path] = firstPaths
  return path !== undefined && JSON.stringify(firstPaths) === JSON.stringify(secondPaths)
    ? { before, after, frame, path, meaning: undefined }
    : undefined
}

function pathsTo(content: string, value: unknown, path: readonly string[]): readonly (readonly string[])[] {
  if (value === content) return [path]
  if (typeof value !== 'object' || value === null || path.length === DEPTH_MAX) return []
  return Object.entries(value).flatMap(([key, child]) => pathsTo(content, child, [...path, key]))
}

/** Copies only the objects on the path to the string; everything else is shared with the template. */
function withContent(value: unknown, path: readonly string[], depth: number, content: string): unknown {
  const key = path[depth]
  if (key === undefined) return content
  if (Array.isArray(value)) {
    const copy = value.slice()
    copy[Number(key)] = withContent(copy[Number(key)], path, depth + 1, content)
    return copy
  }
  const copy = { ...(value as Record<string, unknown>) }
  copy[key] = withContent(copy[key], path, depth + 1, content)
  return copy
}

/** With spaces, in quotes or in small letters, as servers and proxies send it. */
const END_MARKER = /^\s*["']?\[done\]/i

/** Whether the data of an event is the marker that nothing more follows, and no JSON. */
export function isEndMarker(data: string): boolean {
  // Nearly every event begins with a brace, so its first character shows that it is no end marker.
  return data.charCodeAt(0) !== BRACE && END_MARKER.test(data)
}

const BRACE = 0x7b
