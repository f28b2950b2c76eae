import type { ServerResponse } from 'node:http'

/** Where a reply is written: into one response, or to all that listen to a run. */
export interface Output {
  /** Whether a run survives what breaks its readers off, and goes on for those that come later. */
  readonly isShared: boolean
  /** Whether nothing can be written any more. */
  readonly destroyed: boolean
  readonly headersSent: boolean
  writeHead(status: number, headers: Readonly<Record<string, string>>): void
  /** Waits for slow readers, but not for those that have disconnected. */
  write(chunk: string): Promise<void>
  end(chunk: string): void
  /** Resets the connections of the readers. */
  reset(): void
}

/** Writes into one response. */
export class ResponseOutput implements Output {
  readonly isShared = false
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    this.#response = response
  }

  get destroyed(): boolean {
    return this.#response.destroyed
  }

  get headersSent(): boolean {
    return this.#response.headersSent
  }

  writeHead(status: number, headers: Readonly<Record<string, string>>): void {
    this.#response.writeHead(status, headers)
  }

  async write(chunk: string): Promise<void> {
    const response = this.#response
    if (chunk === '' || response.destroyed || response.write(chunk)) return
    await new Promise<void>((resolve) => {
      const ready = () => {
        response.off('drain', ready)
        response.off('close', ready)
        resolve()
      }
      response.once('drain', ready)
      response.once('close', ready)
    })
  }

  end(chunk: string): void {
    if (!this.#response.destroyed) this.#response.end(chunk)
  }

  reset(): void {
    this.#response.socket?.resetAndDestroy()
  }
}
