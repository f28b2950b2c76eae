import { Histogram, type Quantiles } from '#core/ledger/histogram.ts'

/** Metrics of the settled calls in a time range. Token counts are sums over the calls that reported them; null if none did. */
export interface UsageMetrics {
  readonly calls: number
  readonly failedCalls: number
  readonly promptTokens: number | null
  readonly completionTokens: number | null
  readonly totalTokens: number | null
  /** The share of the calls that reported their tokens, from 0 to 1; null if there were no calls. */
  readonly tokenCoverage: number | null
  /** How many of the answers their users rated so. */
  readonly ratedUp: number
  readonly ratedDown: number
  /** In milliseconds, at most 4.9 % off (see {@link Histogram}). */
  readonly firstChunkMs: Quantiles | null
  readonly durationMs: Quantiles | null
}

/** Sums of rollups as the database returns them. */
export interface RollupSums {
  /** 1 to add the sums to a bucket, -1 to subtract them. */
  readonly sign: number
  readonly calls: number
  readonly failed: number
  readonly token_calls: number
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly rated_up: number
  readonly rated_down: number
  /** The JSON texts of the histograms, concatenated, which costs half as much as an array of them. */
  readonly first_chunk: string | null
  readonly duration: string | null
}

/** Sums rollups into metrics. It is mutable and reused, because a report has tens of thousands of points. */
export class UsageAccumulator {
  #calls = 0
  #failed = 0
  #tokenCalls = 0
  #promptTokens = 0
  #completionTokens = 0
  #totalTokens = 0
  #ratedUp = 0
  #ratedDown = 0
  readonly #firstChunk = new Histogram()
  readonly #duration = new Histogram()

  addRow(row: RollupSums): void {
    const { sign } = row
    this.#calls += sign * row.calls
    this.#failed += sign * row.failed
    this.#tokenCalls += sign * row.token_calls
    this.#promptTokens += sign * row.prompt_tokens
    this.#completionTokens += sign * row.completion_tokens
    this.#totalTokens += sign * row.total_tokens
    this.#ratedUp += sign * row.rated_up
    this.#ratedDown += sign * row.rated_down
    this.#firstChunk.addJson(row.first_chunk ?? '', sign)
    this.#duration.addJson(row.duration ?? '', sign)
  }

  add(other: UsageAccumulator): void {
    this.#calls += other.#calls
    this.#failed += other.#failed
    this.#tokenCalls += other.#tokenCalls
    this.#promptTokens += other.#promptTokens
    this.#completionTokens += other.#completionTokens
    this.#totalTokens += other.#totalTokens
    this.#ratedUp += other.#ratedUp
    this.#ratedDown += other.#ratedDown
    this.#firstChunk.add(other.#firstChunk)
    this.#duration.add(other.#duration)
  }

  clear(): void {
    this.#calls = 0
    this.#failed = 0
    this.#tokenCalls = 0
    this.#promptTokens = 0
    this.#completionTokens = 0
    this.#totalTokens = 0
    this.#ratedUp = 0
    this.#ratedDown = 0
    this.#firstChunk.clear()
    this.#duration.clear()
  }

  metrics(): UsageMetrics {
    const tokens = (count: number) => (this.#tokenCalls === 0 ? null : count)
    const coverage = this.#tokenCalls / this.#calls
    return {
      calls: this.#calls,
      failedCalls: this.#failed,
      promptTokens: tokens(this.#promptTokens),
      completionTokens: tokens(this.#completionTokens),
      totalTokens: tokens(this.#totalTokens),
      tokenCoverage: this.#calls === 0 ? null : Math.round(coverage * 10_000) / 10_000,
      ratedUp: this.#ratedUp,
      ratedDown: this.#ratedDown,
      firstChunkMs: this.#firstChunk.quantiles(),
      durationMs: this.#duration.quantiles(),
    }
  }
}
