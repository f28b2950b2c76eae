/** The ratio between the bounds of neighbouring cells. The settlement in `roll-up-sql.ts` computes the same cells with it. */
export const GROWTH = 1.1

/** Enough for every duration: the largest int4, in which durations are stored, falls into cell 226. */
const CELLS = 256

export interface Quantiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/**
 * A logarithmic histogram of milliseconds: cell `i` counts the values up to {@link GROWTH} to the power of `i`. Histograms
 * are merged by adding their cells. A quantile is at most 4.9 % off, because the middle of a cell is
 * (GROWTH − 1) / (GROWTH + 1) = 4.76 % from its bounds and is rounded to four digits.
 *
 * It is stored as sparse JSON (cell → count) but summed in an array, because objects with hundreds of numeric keys cost
 * several times as much.
 */
export class Histogram {
  readonly #cells = new Float64Array(CELLS)

  /**
   * Adds stored histograms, or subtracts them with `sign` -1. Parsed by hand, without creating objects, because a large
   * report reads megabytes of this JSON.
   *
   * @param json - the JSON texts of any number of histograms, concatenated
   */
  addJson(json: string, sign = 1): void {
    const cells = this.#cells
    let cell = 0
    let number = 0
    for (let index = 0; index < json.length; index += 1) {
      const code = json.charCodeAt(index)
      if (code >= ZERO && code <= NINE) {
        number = number * 10 + code - ZERO
      } else if (code === COLON) {
        cell = number
        number = 0
      } else if (number > 0 && (code === COMMA || code === BRACE)) {
        cells[cell] = (cells[cell] ?? 0) + sign * number
        number = 0
      }
    }
  }

  add(other: Histogram): void {
    for (let cell = 0; cell < CELLS; cell += 1) {
      this.#cells[cell] = (this.#cells[cell] ?? 0) + (other.#cells[cell] ?? 0)
    }
  }

  clear(): void {
    this.#cells.fill(0)
  }

  /** Returns null if nothing was counted. */
  quantiles(): Quantiles | null {
    let total = 0
    for (let cell = 0; cell < CELLS; cell += 1) total += this.#cells[cell] ?? 0
    if (total === 0) return null
    return {
      p50: this.#quantile(total * 0.5),
      p95: this.#quantile(total * 0.95),
      p99: this.#quantile(total * 0.99),
    }
  }

  #quantile(rank: number): number {
    let counted = 0
    let cell = 0
    while (cell < CELLS && counted < rank) {
      counted += this.#cells[cell] ?? 0
      cell += 1
    }
    return MIDDLES[cell - 1] ?? Number.NaN
  }
}

const [ZERO, NINE, COLON, COMMA, BRACE] = [48, 57, 58, 44, 125]

/**
 * The value of each cell with the same relative distance to both of its bounds. It is not rounded to whole milliseconds,
 * which would increase the error for short durations.
 */
const MIDDLES = Array.from({ length: CELLS }, (_, cell) =>
  cell === 0 ? 1 : Number(((2 * GROWTH ** cell) / (GROWTH + 1)).toPrecision(4)),
)
