import type { Server, ServerResponse } from 'node:http'
import { closeSoon } from '#http/guards/client-error.ts'

/**
 * The responses of a server that stops, each of which is the last one of its connection. Clients that keep connections open learn
 * it in time and open the next one elsewhere.
 */
export class OpenResponses {
  readonly #server: Server
  readonly #open = new Set<ServerResponse>()
  #whenEnded: (() => void) | undefined

  /** @param open - those that have not ended yet */
  constructor(server: Server, open: readonly ServerResponse[]) {
    this.#server = server
    for (const response of open) this.#add(response)
    server.prependListener('request', (_request, response: ServerResponse) => this.#add(response))
  }

  /** Resolves when no response is open any more. */
  ended(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenEnded = resolve
      if (this.#open.size === 0) resolve()
    })
  }

  #add(response: ServerResponse): void {
    this.#open.add(response)
    response.once('close', () => {
      this.#open.delete(response)
      if (this.#open.size === 0) this.#whenEnded?.()
    })
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
