const REMEMBERED_MS = 3_600_000

/**
 * Fields of requests that the platform of a deployment refuses, for an hour each: the platform may be replaced by one that takes
 * them. All times are milliseconds of one monotonic clock.
 */
export class RefusedFields {
  readonly #untilMs = new Map<string, number>()

  /** Those that are to be left out now. */
  at(nowMs: number): readonly string[] {
    return [...this.#untilMs].filter(([, untilMs]) => untilMs > nowMs).map(([field]) => field)
  }

  /** Returns those of the fields that were not known to be refused. */
  remember(fields: readonly string[], nowMs: number): readonly string[] {
    const known = this.at(nowMs)
    for (const field of fields) this.#untilMs.set(field, nowMs + REMEMBERED_MS)
    return fields.filter((field) => !known.includes(field))
  }
}
