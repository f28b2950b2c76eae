/** A complete HTTP reply. Streams are written by the player instead. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Thrown anywhere in a handler; the server sends its answer unchanged. */
export class Refusal extends Error {
  readonly answer: Answer

  constructor(answer: Answer) {
    super(`${answer.status} ${answer.body}`)
    this.answer = answer
  }
}

export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(value),
  }
}

export function plainText(status: number, body: string): Answer {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body }
}

/** The page that a reverse proxy sends in place of the platform's reply. */
export function htmlPage(status: number, title: string): Answer {
  return {
    status,
    headers: { 'content-type': 'text/html' },
    body: `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n</body>\r\n</html>\r\n`,
  }
}
