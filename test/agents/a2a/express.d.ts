/** The part of express that the agent and the SDK use; the package has no types of its own. */
declare module 'express' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export interface Request extends IncomingMessage {
    readonly originalUrl: string
    readonly res: ServerResponse
    body?: unknown
  }

  export type RequestHandler = (
    request: Request,
    response: ServerResponse,
    next: (error?: unknown) => void,
  ) => unknown

  interface Application {
    (request: IncomingMessage, response: ServerResponse): void
    use(path: string, handler: RequestHandler): void
  }

  export default function express(): Application
}
