export interface Waiter {
  readonly key: string
  tryStart(): boolean
  shed(): void
}
export class FairQueue {
  readonly #max: number
  #all: Waiter[] = []
  constructor(max: number) {
    this.#max = max
  }
  get size(): number {
    return this.#all.length
  }
  add(w: Waiter): boolean {
    if (this.#all.length >= this.#max) return false
    this.#all.push(w)
    return true
  }
  remove(w: Waiter): void {
    this.#all = this.#all.filter((x) => x !== w)
  }
  serve(): void {
    for (const w of [...this.#all]) if (w.tryStart()) this.remove(w)
  }
  drain(): void {
    for (const w of this.#all.splice(0)) w.shed()
  }
}
