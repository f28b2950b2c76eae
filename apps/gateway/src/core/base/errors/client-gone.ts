import { Problem } from './errors.ts'

/**
 * Ends work whose client has closed the connection. It is never sent or recorded, since a record of a refusal would only mislead.
 */
export class ClientGone extends Problem {
  constructor() {
    super('invalid_request', { detail: 'The client closed the connection.' })
  }
}
