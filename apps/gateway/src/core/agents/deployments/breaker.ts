export type Ticket = number
export class Breaker {
  state: 'closed' | 'open' | 'half_open' = 'closed'
  #failures = 0
  #generation = 0
  #trial = false
  #probing = false
  #waitMs = 5000
  #dueMs = 0
  readonly #random: () => number
  constructor(random: () => number) {
    this.#random = random
  }
  mayBegin(_nowMs: number): boolean {
    return this.state === 'closed' || (this.state === 'half_open' && !this.#trial)
  }
  begin(_nowMs: number): Ticket {
    if (this.state === 'half_open') this.#trial = true
    return this.#generation
  }
  succeeded(ticket: Ticket, _nowMs: number): void {
    if (ticket !== this.#generation) return
    this.#failures = 0
    if (this.state === 'half_open') {
      this.state = 'closed'
      this.#generation += 1
      this.#waitMs = 5000
    }
  }
  failed(ticket: Ticket, nowMs: number): void {
    if (ticket !== this.#generation) return
    this.#failures += 1
    if (this.state === 'half_open' || this.#failures >= 5) {
      if (this.state === 'half_open') this.#waitMs = Math.min(60000, this.#waitMs * 2)
      this.state = 'open'
      this.#generation += 1
      this.#trial = false
      this.#dueMs = nowMs + this.#waitMs
    }
  }
  withoutVerdict(ticket: Ticket, _nowMs: number): void {
    if (ticket === this.#generation) this.#trial = false
  }
  isProbeDue(nowMs: number): boolean {
    return this.state === 'open' && !this.#probing && nowMs >= this.#dueMs
  }
  probeBegan(_nowMs: number): void {
    this.#probing = true
  }
  probed(answered: boolean, nowMs: number): void {
    this.#probing = false
    if (answered) {
      this.state = 'half_open'
      this.#trial = false
      this.#generation += 1
    } else this.#dueMs = nowMs + 5000 * (0.8 + 0.4 * this.#random())
  }
  retryAfterMs(nowMs: number): number {
    return Math.max(1000, this.#dueMs - nowMs)
  }
}
