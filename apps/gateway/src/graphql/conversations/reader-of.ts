import { boundEndUser } from '#http/request/end-user.ts'
import type { ContextParts, OperationPlace } from '../context.ts'

/** The end user that a trusted proxy has named, who binds every request. */
export function readerOf({
  http,
  chatOptions,
}: Pick<OperationPlace, 'http'> & Pick<ContextParts, 'chatOptions'>) {
  return { boundTo: boundEndUser(http, chatOptions) }
}
