import type { ChatEvent, DetailEvent, DetailSource } from '#core/agents/events.ts'
import { isObject, type JsonObject, listOf, objectOf, toJson } from '#core/base/values/json.ts'
import { withoutCredentials } from '#core/base/values/without-credentials.ts'
import { wellFormed } from './replies/well-formed-text.ts'

/** Deeper values are left out: a reply that holds them could not be written, because `JSON.stringify` recurses. */
const LEVELS_MAX = 64

/** A detail but for `raw`, which is collected while its fields are read. */
type Read<Detail> = Detail extends DetailEvent ? Omit<Detail, 'raw'> : never

/**
 * Creates a detail of an event of a platform, only when it is read. Fields that `build` reads and that have an unexpected type
 * are put into `raw`, so no value of a platform makes a detail that is not valid.
 */
export function detail(frame: JsonObject, build: (step: StepFields) => Read<DetailEvent>): ChatEvent {
  return {
    type: 'detail',
    detail() {
      const step = new StepFields(frame)
      return { ...build(step), raw: step.raw }
    },
  }
}

/** The names of the fields of a source on a platform. */
type SourceNames = { readonly [Field in keyof DetailSource]: string }

/** Reads the fields of an event, all of which are untrusted. Null is the same as absent. */
export class StepFields {
  readonly #frame: JsonObject
  readonly #read = new Set<string>()
  readonly #raw = new Map<string, unknown>()

  constructor(frame: JsonObject) {
    this.#frame = frame
  }

  /** What was odd and what was kept; undefined if there is none of it. */
  get raw(): JsonObject | undefined {
    return this.#raw.size === 0 ? undefined : Object.fromEntries(this.#raw)
  }

  /** A text that is not empty. */
  text(name: string): string | undefined {
    const value = this.#take(name)
    if (typeof value === 'string') return value === '' ? undefined : value.toWellFormed()
    return this.put(name, value)
  }

  /** The arguments of a tool, which some platforms send as JSON and others as a text of JSON. */
  jsonText(name: string): string | undefined {
    const value = this.#frame[name]
    const isJson = typeof value === 'object' && value !== null
    if (!isJson || !isShallow(value)) return this.text(name)
    this.#read.add(name)
    return toJson(wellFormed(value))
  }

  milliseconds(name: string): number | undefined {
    const seconds = this.#take(name)
    const milliseconds = typeof seconds === 'number' ? Math.round(seconds * 1000) : Number.NaN
    return Number.isSafeInteger(milliseconds) ? milliseconds : this.put(name, seconds)
  }

  list(name: string): readonly unknown[] | undefined {
    const value = this.#take(name)
    return Array.isArray(value) && isShallow(value) ? listOf(wellFormed(value)) : this.put(name, value)
  }

  object(name: string): JsonObject {
    const value = this.#take(name)
    return isObject(value) && isShallow(value) ? objectOf(wellFormed(value)) : (this.put(name, value) ?? {})
  }

  /** Any value, but for one that is too deep. */
  json(name: string): unknown {
    const value = this.#take(name)
    return isShallow(value) ? wellFormed(value) : undefined
  }

  /** Has an item for each of the list; what an item of the list has beside is at the same place of the list in `raw`. */
  sources(name: string, { title, url, text, document }: SourceNames): readonly DetailSource[] {
    const rests: unknown[] = []
    const items = (this.list(name) ?? []).map((item) => {
      const source = new StepFields(isObject(item) ? item : {})
      const textOf = (field: string | undefined) => (field === undefined ? undefined : source.text(field))
      const address = textOf(url)
      const fields = {
        title: textOf(title),
        url: address && withoutCredentials(address),
        text: textOf(text),
        document: textOf(document),
      }
      source.keepAll()
      rests.push(isObject(item) ? source.raw : item)
      return fields
    })
    if (rests.some((rest) => rest !== undefined)) {
      this.put(
        name,
        rests.map((rest) => rest ?? {}),
      )
    }
    return items
  }

  /** Keeps in `raw` what has not been read otherwise. */
  keep(...names: readonly string[]): void {
    for (const name of names) if (!this.#read.has(name)) this.put(name, this.#take(name))
  }

  keepAll(): void {
    this.keep(...Object.keys(this.#frame))
  }

  /** Keeps a value in `raw`. */
  put(name: string, value: unknown): undefined {
    if (value !== undefined && value !== null && isShallow(value)) this.#raw.set(name, wellFormed(value))
  }

  #take(name: string): unknown {
    this.#read.add(name)
    return this.#frame[name]
  }
}

function isShallow(value: unknown, levels = LEVELS_MAX): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1))
}
