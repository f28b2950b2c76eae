import { isObject, type JsonObject, objectOf, textOf, toJson } from '#core/base/values/json.ts'
import { ObjectProgress } from './object-progress.ts'

/** Further calls are dropped, which bounds what is kept of a reply. */
const CALLS_MAX = 128

interface KnownCall {
  readonly id: string | undefined
  /** The index that the server gave it, if any. */
  readonly index: number | undefined
  name: string | undefined
  /** The arguments so far, which show whether a piece repeats the whole call or continues it. */
  args: string
  /** Whether these are whole. */
  readonly progress: ObjectProgress
}

/**
 * Finds the call of each piece and writes the piece as clients expect it: with an index that counts from 0, with an id and a
 * type in the first piece, and with arguments as text. Servers leave the index out, count from 1 or from -1, give every call
 * the index 0, repeat the id in each piece or send it in none, and send arguments as objects.
 */
export class ToolCallPieces {
  readonly #calls: KnownCall[] = []
  /** Begins the ids of calls to which the server gave none. */
  readonly #idPrefix: string

  constructor(idPrefix: string) {
    this.#idPrefix = idPrefix
  }

  /**
   * Writes the pieces of one event.
   *
   * @param areWhole - whether each may also be the whole call so far, as servers send it that repeat the whole message
   */
  write(pieces: readonly unknown[], areWhole = false): readonly JsonObject[] {
    // The pieces of one event belong to different calls if each of them has a name.
    const begun = new Set<KnownCall>()
    return pieces.flatMap((piece) => (isObject(piece) ? this.#write(piece, begun, areWhole) : []))
  }

  #write(piece: JsonObject, begun: Set<KnownCall>, isWhole: boolean): readonly JsonObject[] {
    const { index: _, id: _id, type: _type, function: _function, ...more } = piece
    const id = idOf(piece.id)
    const index = numberOf(piece.index)
    const said = calledBy(piece)
    const repeated = isWhole ? this.#repeated(index, id, said) : undefined
    const called = repeated === undefined ? said : withoutKnown(said, repeated)
    const known = repeated ?? this.#find(index, id, called, begun)
    if (known === undefined && this.#calls.length >= CALLS_MAX) return []
    const call = known ?? this.#begin(index, id)
    begun.add(call)
    const isFirst = known === undefined
    const name = called.name === call.name && !isFirst ? undefined : called.name
    call.name ??= called.name
    call.args += called.args ?? ''
    call.progress.add(called.args ?? '')
    const number = this.#calls.indexOf(call)
    const head = { index: number, ...(isFirst && { id: id ?? `${this.#idPrefix}_${number}` }) }
    // A tool of the caller's own kind, whose input is a text.
    if (isObject(piece.custom)) return [{ ...more, ...head, ...(isFirst && { type: 'custom' }) }]
    return [
      {
        ...(isFlat(piece) ? {} : more),
        ...head,
        ...(isFirst && { type: 'function' }),
        function: {
          ...called.more,
          ...(name !== undefined && { name }),
          ...((isFirst || called.args !== undefined) && { arguments: called.args ?? '' }),
        },
      },
    ]
  }

  /** The call of which a whole one repeats the beginning. */
  #repeated(
    index: number | undefined,
    id: string | undefined,
    { name, args = '' }: Called,
  ): KnownCall | undefined {
    return this.#calls.find(
      (call) =>
        call.args !== '' &&
        args.startsWith(call.args) &&
        (name === undefined || name === call.name) &&
        (id === undefined ? index === call.index : id === call.id),
    )
  }

  #find(
    index: number | undefined,
    id: string | undefined,
    called: Called,
    begun: ReadonlySet<KnownCall>,
  ): KnownCall | undefined {
    const last = this.#calls.at(-1)
    if (id !== undefined) {
      const same = this.#calls.findLast((call) => call.id === id)
      if (same !== undefined) return same
    }
    const indexed = this.#calls.findLast((call) => call.index === index)
    // Servers leave the index out, or give it from the second piece on.
    const candidate = indexed ?? (index === undefined || last?.index === undefined ? last : undefined)
    if (candidate === undefined) return undefined
    const isNamed = called.name !== undefined || (id !== undefined && id !== candidate.id)
    if (isNamed && begun.has(candidate)) return undefined
    return called.name !== undefined && isAnother(candidate, id, called) ? undefined : candidate
  }

  #begin(index: number | undefined, id: string | undefined): KnownCall {
    const call: KnownCall = { id, index, name: undefined, args: '', progress: new ObjectProgress() }
    this.#calls.push(call)
    return call
  }
}

/** Whether a piece with a name begins another call than the one that it would otherwise go on with. */
function isAnother(call: KnownCall, id: string | undefined, called: Called): boolean {
  if (call.name === undefined) return false
  if (call.name !== called.name) return true
  if (id !== undefined && call.id !== undefined && id !== call.id) return true
  // The same name again: servers repeat it in each piece, until the arguments are whole.
  return call.progress.isWhole && (called.args ?? '') !== ''
}

interface Called {
  readonly name: string | undefined
  readonly args: string | undefined
  /** What else the server says of the function. */
  readonly more: JsonObject
}

function isFlat({ function: called }: JsonObject): boolean {
  return !isObject(called)
}

/** The function of a piece; some servers write its fields into the piece itself. */
function calledBy(piece: JsonObject): Called {
  const called = isObject(piece.custom) ? piece.custom : isFlat(piece) ? piece : objectOf(piece.function)
  const { name, arguments: args, input, parameters, ...more } = called
  return {
    name: textOf(name),
    args: argumentsOf(args ?? input ?? parameters),
    more: isFlat(piece) ? {} : more,
  }
}

/** What a whole call says that is not known yet. */
function withoutKnown(called: Called, { args }: KnownCall): Called {
  return { ...called, args: called.args?.slice(args.length) || undefined }
}

function argumentsOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : (toJson(value) ?? '')
}

function idOf(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : textOf(value)
}

function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isInteger(number) ? number : undefined
}
