import { Problem } from './errors.ts'

/**
 * Ends work whose client has closed the connection. Nobody reads it, and nothing was refused: a record of it would only mislead.
 */
export class ClientGone extends Problem {
  constructor() {
    super('invalid_request', { detail: 'The client closed the connection.' })
  }
}
