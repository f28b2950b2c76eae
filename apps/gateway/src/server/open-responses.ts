import type { Server, ServerResponse } from 'node:http'
import { InFlight } from '#core/base/async/in-flight.ts'
import { closeSoon } from '#http/guards/client-error.ts'

/** The responses of a server that have not ended yet. */
export class OpenResponses {
  readonly #server: Server
  readonly #open = new InFlight<ServerResponse>()
  #areLast = false
  #whenEnded: (() => void) | undefined

  /** Must be created before the server has other listeners for requests. */
  constructor(server: Server) {
    this.#server = server
    server.prependListener('request', (_request, response: ServerResponse) => {
      const remove = this.#open.add(response)
      if (this.#areLast) this.#endConnectionOf(response)
      response.once('close', () => {
        remove()
        if (this.#open.size === 0) this.#whenEnded?.()
      })
    })
  }

  /**
   * From now on each response is the last one of its connection. Clients that keep connections open learn it in time and open
   * the next one elsewhere.
   */
  endConnections(): void {
    if (this.#areLast) return
    this.#areLast = true
    for (const response of this.#open.all()) this.#endConnectionOf(response)
  }

  /** Resolves when no response is open any more. */
  ended(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenEnded = resolve
      if (this.#open.size === 0) resolve()
    })
  }

  #endConnectionOf(response: ServerResponse): void {
    if (!response.headersSent) {
      response.setHeader('connection', 'close')
      return
    }
    // Its headers promised to keep the connection, so another request may already be under way and is answered while that is
    // possible.
    const { socket } = response
    response.once('finish', () => {
      if (!this.#server.listening && socket !== null) closeSoon(socket)
    })
  }
}
