/** A cell's width. The settlement in `ledger-sql.ts` puts values into the same cells, and takes this constant. */
export const GROWTH = 1.1

/** The last cell that is used holds the largest int4. */
const CELLS = 256

export interface Quantiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/**
 * A logarithmic histogram: cell `i` counts values up to {@link GROWTH} to the power of `i`, in milliseconds. Two of them
 * merge by adding, and a quantile is at most 4.9 % off: the middle of a cell is
 * (GROWTH − 1) / (GROWTH + 1), 4.76 %, from its edges, and is kept with four digits.
 * Stored as sparse JSON (cell → count), summed as an array: objects with hundreds of numbers for keys cost several times as much.
 */
export class Histogram {
  readonly #cells = new Float64Array(CELLS)

  /** Adds, or takes off, what the JSON of histograms holds, one after the other. By hand: a report has megabytes of it. */
  addJson(json: string, sign = 1): void {
    const cells = this.#cells
    let cell = 0
    let number = 0
    for (let at = 0; at < json.length; at += 1) {
      const code = json.charCodeAt(at)
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

  /** Null where nothing was counted. */
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

/** The value whose relative distance to both edges of a cell is the same; a whole number would be farther from 13 ms. */
const MIDDLES = Array.from({ length: CELLS }, (_, cell) =>
  cell === 0 ? 1 : Number(((2 * GROWTH ** cell) / (GROWTH + 1)).toPrecision(4)),
)
