import { createHash, type Hash } from 'node:crypto'

/**
 * The SHA-256 of a parsed body, in hex, by which requests are distinguished: equal for the same fields in another order. It hashes
 * the JSON of the body with sorted keys, piece by piece, since a body may have 20 MiB.
 */
export function bodyHash(body: unknown): string {
  const canonical = new CanonicalJson(createHash('sha256'))
  canonical.write(body)
  return canonical.digest()
}

/** The longest piece, in characters, that is hashed or escaped at once. */
const PIECE_LENGTH = 64 * 1024

class CanonicalJson {
  readonly #hash: Hash
  /** Short pieces are joined, because each update of the hash has a cost of its own. */
  #pending = ''

  constructor(hash: Hash) {
    this.#hash = hash
  }

  /** Recursive, because the parser of bodies bounds their depth. That of GraphQL documents takes more of the stack than this. */
  write(value: unknown): void {
    if (typeof value === 'string') this.#text(value)
    else if (Array.isArray(value)) this.#list(value)
    else if (typeof value === 'object' && value !== null) this.#object(value)
    else this.#put(scalarOf(value))
  }

  digest(): string {
    this.#flush()
    return this.#hash.digest('hex')
  }

  #list(values: readonly unknown[]): void {
    let separator = ''
    this.#put('[')
    for (const value of values) {
      this.#put(separator)
      separator = ','
      this.write(value)
    }
    this.#put(']')
  }

  #object(value: object): void {
    const fields = value as Readonly<Record<string, unknown>>
    let separator = ''
    this.#put('{')
    for (const name of Object.keys(fields).sort()) {
      if (fields[name] === undefined) continue
      this.#put(separator)
      separator = ','
      this.#text(name)
      this.#put(':')
      this.write(fields[name])
    }
    this.#put('}')
  }

  #text(text: string): void {
    if (text.length <= PIECE_LENGTH) {
      this.#put(JSON.stringify(text))
      return
    }
    this.#put('"')
    for (let start = 0; start < text.length; start += PIECE_LENGTH) {
      // A pair of surrogates that is cut here is escaped, which stands for the same text.
      this.#put(JSON.stringify(text.slice(start, start + PIECE_LENGTH)).slice(1, -1))
    }
    this.#put('"')
  }

  #put(piece: string): void {
    this.#pending += piece
    if (this.#pending.length >= PIECE_LENGTH) this.#flush()
  }

  #flush(): void {
    this.#hash.update(this.#pending)
    this.#pending = ''
  }
}

/** As JSON writes it; a number beyond the range of numbers is not null, for which JSON would take it. */
function scalarOf(value: unknown): string {
  return typeof value === 'number' && !Number.isFinite(value)
    ? String(value)
    : (JSON.stringify(value) ?? 'null')
}
