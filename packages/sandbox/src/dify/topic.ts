import type { ServerResponse } from 'node:http'
import { type Output, ResponseOutput } from '../replies/output.ts'

/** Those that listen to a run. It remembers nothing: what is said before a listener comes, the listener never hears. */
export class Topic implements Output {
  readonly isShared = true
  readonly destroyed = false
  headersSent = false
  readonly #listeners = new Set<ResponseOutput>()

  listen(response: ServerResponse, headers: Readonly<Record<string, string>>, greeting: string): void {
    const listener = new ResponseOutput(response)
    response.once('close', () => this.#listeners.delete(listener))
    listener.writeHead(200, headers)
    void listener.write(greeting)
    this.#listeners.add(listener)
  }

  /** Begins the next part of the run. */
  begin(): this {
    this.headersSent = false
    return this
  }

  writeHead(): void {
    this.headersSent = true
  }

  async write(chunk: string): Promise<void> {
    await Promise.all([...this.#listeners].map((listener) => listener.write(chunk)))
  }

  end(chunk: string): void {
    for (const listener of this.#take()) listener.end(chunk)
  }

  reset(): void {
    for (const listener of this.#take()) listener.reset()
  }

  #take(): readonly ResponseOutput[] {
    const listeners = [...this.#listeners]
    this.#listeners.clear()
    return listeners
  }
}
