import type { ErrorFields } from '../errors.ts'

/** What an error has of the response that it belongs to. */
export type ResponseHead = Pick<Response, 'status' | 'headers'>

export function requestIdOf({ headers }: Pick<ResponseHead, 'headers'>): string | undefined {
  return headers.get('x-request-id') ?? undefined
}

export function responseFields(response: ResponseHead): ErrorFields {
  return { status: response.status, headers: response.headers, requestId: requestIdOf(response) }
}
