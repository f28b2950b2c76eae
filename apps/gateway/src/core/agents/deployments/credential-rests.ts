export class CredentialRests {
  readonly #until = new Map<string, number>()
  rest(deployment: string, key: string, nowMs: number, seconds: number | undefined): void {
    this.#until.set(`${deployment}\n${key}`, nowMs + 1000 * Math.min(60, seconds ?? 60))
  }
  end(deployment: string, key: string): void {
    if (this.#until.size > 0) this.#until.delete(`${deployment}\n${key}`)
  }
  restUntil(deployment: string, key: string, nowMs: number): number | undefined {
    const at = this.#until.get(`${deployment}\n${key}`)
    return at !== undefined && at > nowMs ? at : undefined
  }
}
