import { expect } from 'vitest'
import type { DocumentedResponse, Operation } from './contract.ts'
import type { Answer } from './send.ts'

/** Expects a response that `openapi.json` documents: status, media type, body, headers and reason. */
export function expectDocumented(operation: Operation, answer: Answer): void {
  const { status, headers, text } = answer
  const response = operation.responses.get(status)
  if (response === undefined) throw new Error(`${operation.id} does not document ${status}: ${text}`)

  expectBody(response, answer)
  expectNotStored(operation, answer)
  expect(headers['x-request-id']).toEqual(expect.any(String))
  expect([...response.headers]).toEqual(expect.arrayContaining(Object.keys(headers).filter(isOurs)))
  if (status === 401) expect(headers['www-authenticate']).toBe('Bearer')
  if (response.reasons.length > 0) expectProblem(response, answer)
}

/** Public, or checked by a tag; and chats, which no cache stores because they are POST requests without a lifetime. */
const MAY_BE_STORED: ReadonlySet<string> = new Set([
  'getJwks',
  'getFile',
  'chat',
  'createCompletion',
  'createResponse',
])

/** Every other response is made for one credential or true only now, and so is every refusal. */
function expectNotStored({ id }: Operation, { status, headers }: Answer): void {
  if (status >= 400 ? headers['content-type'] !== undefined : !MAY_BE_STORED.has(id))
    expect(headers['cache-control'], `${id} ${status}`).toMatch(/^no-store\b/)
}

function expectProblem({ reasons }: DocumentedResponse, { status, headers, body }: Answer): void {
  const reason = reasonOf(body)
  expect(reasons).toContain(reason)
  if (body.error === undefined)
    expect(body).toMatchObject({ code: status, request_id: headers['x-request-id'] })
  expect(headers['x-should-retry']).toMatch(/^(?:true|false)$/)
  if (['rate_limited', 'unavailable', 'draining'].includes(reason)) {
    expect(headers['retry-after']).toMatch(/^[1-9]\d*$/)
  }
}

/** The reason of an error of either interface. */
export function reasonOf(body: Answer['body']): string {
  return body.error === undefined ? body.reason : body.error.code
}

function expectBody({ bodies }: DocumentedResponse, { headers, text, body }: Answer): void {
  if (bodies.size === 0) {
    expect([text, headers['content-type']]).toEqual(['', undefined])
    return
  }
  const type = headers['content-type']?.split(';')[0] ?? ''
  const check = bodies.get(type) ?? bodies.get('*/*')
  if (check === undefined) throw new Error(`the media type ${type} is not documented`)
  for (const part of type === 'text/event-stream' ? framesOf(text) : [body])
    expect(check(part)).toBeUndefined()
}

function framesOf(stream: string): unknown[] {
  // The events of a kept reply have a line with their number.
  const events = stream.split('\n\n').map((event) => event.replace(/\nid: \d+$/, ''))
  const lines = events.filter((line) => line.startsWith('data: '))
  expect(lines.pop()).toBe('data: [DONE]')
  return lines.map((line) => JSON.parse(line.slice('data: '.length)))
}

/** Whether a header belongs to this API; the others are part of HTTP. */
function isOurs(name: string): boolean {
  return /^(?:x-(?:request-id|call-id|conversation-id|should-retry)|ratelimit.*|retry-after|www-authenticate)$/.test(
    name,
  )
}
