/** The header in which the SDK sends its language and version. */
export const CLIENT_HEADER = 'trunkline-client'

/** What a client says of itself, such as `js/0.1.0`. */
export interface ClientVersion {
  /** The version as the client sends it, for the log. */
  readonly full: string
  /** The version without its last part, for a label of metrics. */
  readonly minor: string
}

const FORM = /^(js\/\d{1,3}\.\d{1,3})\.\d{1,5}(?:-[\w.]{1,20})?$/

/** Reads the version of an SDK; undefined for other clients, and for a header that has not its form. */
export function clientVersion(headers: Readonly<Record<string, unknown>>): ClientVersion | undefined {
  const value = headers[CLIENT_HEADER]
  const [full, minor] = (typeof value === 'string' && FORM.exec(value)) || []
  return full === undefined || minor === undefined ? undefined : { full, minor }
}

const OTHER = 'other'

/** Bounds the number of different versions in metrics, since a client may tell any. */
export class ClientLabels {
  readonly #known = new Set<string>()
  readonly #max: number

  constructor(max = 100) {
    this.#max = max
  }

  of({ minor }: ClientVersion): string {
    if (this.#known.size < this.#max) this.#known.add(minor)
    return this.#known.has(minor) ? minor : OTHER
  }
}
