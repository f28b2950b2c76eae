import type { ChatEvent } from '#core/agents/events.ts'
import type { Pause } from '#core/agents/pause.ts'
import { isObject, listOf, objectOf, toJson } from '#core/base/values/json.ts'

/**
 * Makes the texts of one reply well-formed. A server may send the halves of a surrogate pair in two events; the first half is
 * held back until the other one comes. A half that never comes is U+FFFD. The halves of text, reasoning and each tool call are
 * held apart.
 */
export class WellFormedText {
  /** Created with the first half, since most replies have none. */
  #halves: Map<string, string> | undefined

  /** The events with well-formed texts; the same event if there was nothing to do. */
  take(event: ChatEvent): readonly ChatEvent[] {
    switch (event.type) {
      case 'text':
      case 'reasoning':
        return this.#halves === undefined && event.text.isWellFormed() ? [event] : this.#piece(event)
      case 'tool_calls':
        return this.#toolCalls(event)
      case 'replace':
        return event.text.isWellFormed() ? [event] : [{ ...event, text: event.text.toWellFormed() }]
      case 'pause':
        return [
          ...this.end(),
          hasLoneHalf(event.pause) ? { ...event, pause: wellFormed(event.pause) as Pause } : event,
        ]
      case 'logprobs':
        return hasLoneHalf(event.logprobs)
          ? [{ ...event, logprobs: objectOf(wellFormed(event.logprobs)) }]
          : [event]
      case 'citations':
        return hasLoneHalf([event.top, event.annotations])
          ? [
              {
                ...event,
                top: objectOf(wellFormed(event.top)),
                annotations: listOf(wellFormed(event.annotations)),
              },
            ]
          : [event]
      case 'model':
        return event.model.isWellFormed() ? [event] : [{ ...event, model: event.model.toWellFormed() }]
      default:
        return [event]
    }
  }

  /** What is still held back when the response has ended, or when something of another kind comes. */
  end(): readonly ChatEvent[] {
    const halves = this.#halves
    if (halves === undefined || halves.size === 0) return []
    this.#halves = undefined
    return [...halves.keys()].map((kind) =>
      kind === 'text' || kind === 'reasoning'
        ? { type: kind, text: REPLACEMENT }
        : {
            type: 'tool_calls',
            delta: [{ index: Number(kind), function: { arguments: REPLACEMENT } }],
          },
    )
  }

  /** Joins a piece of a text with the half before it, and holds back the half at its end. */
  join(kind: string, text: string): string {
    const half = this.#halves?.get(kind)
    if (half === undefined && text.isWellFormed()) return text
    const whole = (half ?? '') + text
    const isCut = isHighSurrogate(whole.charCodeAt(whole.length - 1))
    if (isCut) this.#hold(kind, whole.slice(-1))
    else this.#halves?.delete(kind)
    return (isCut ? whole.slice(0, -1) : whole).toWellFormed()
  }

  #piece(event: Extract<ChatEvent, { type: 'text' | 'reasoning' }>): readonly ChatEvent[] {
    const before = this.#ofOtherKinds(event.type)
    const text = this.join(event.type, event.text)
    return text === '' ? before : [...before, { type: event.type, text }]
  }

  #toolCalls(event: Extract<ChatEvent, { type: 'tool_calls' }>): readonly ChatEvent[] {
    if (this.#halves === undefined && !hasLoneHalf(event.delta)) return [event]
    const before = this.#ofOtherKinds(undefined)
    return [...before, { type: 'tool_calls', delta: event.delta.map((piece) => this.#toolCall(piece)) }]
  }

  #toolCall(piece: unknown): unknown {
    const { index, function: called } = objectOf(piece)
    if (!isObject(called)) return wellFormed(piece)
    const { arguments: args, ...rest } = called
    return {
      ...objectOf(wellFormed({ ...objectOf(piece), function: undefined })),
      function: {
        ...objectOf(wellFormed(rest)),
        ...('arguments' in called && {
          arguments: typeof args === 'string' ? this.join(String(index), args) : args,
        }),
      },
    }
  }

  /** The halves of tool calls are given out when a text comes, and the other way round. */
  #ofOtherKinds(kind: 'text' | 'reasoning' | undefined): readonly ChatEvent[] {
    const held = this.#halves
    if (held === undefined) return []
    const isSame = (each: string) =>
      kind === undefined ? each !== 'text' && each !== 'reasoning' : each === kind
    const kept = [...held].filter(([each]) => isSame(each))
    if (kept.length === held.size) return []
    for (const [each] of kept) held.delete(each)
    const given = this.end()
    if (kept.length > 0) this.#halves = new Map(kept)
    return given
  }

  #hold(kind: string, half: string): void {
    this.#halves ??= new Map()
    this.#halves.set(kind, half)
  }
}

const REPLACEMENT = '\ufffd'

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

/** Makes every text within a JSON value well-formed, names included; the same value if all of them are. */
export function wellFormed(value: unknown): unknown {
  return hasLoneHalf(value) ? JSON.parse(toJson(value) ?? 'null', wellFormedEntry) : value
}

function hasLoneHalf(value: unknown): boolean {
  // `JSON.stringify` escapes lone surrogates, and nothing else of this range.
  return /\\ud[89a-f]/.test(toJson(value) ?? '')
}

function wellFormedEntry(_name: string, value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name.toWellFormed(), each]))
}
