/** One part of a form. */
export interface FormPart {
  readonly name?: string
  readonly filename?: string
  readonly type?: string
  /** Further header lines. */
  readonly lines?: readonly string[]
  readonly content: string | Buffer
}

export const BOUNDARY = 'boundary-of-tests'

export interface Form {
  readonly body: Buffer
  readonly headers: Record<string, string>
}

/** Body and headers of a request with a form, written byte by byte, so that a test can send forms that no client would. */
export function formOf(parts: readonly FormPart[], boundary = BOUNDARY): Form {
  const body = [...parts.map((part) => partOf(part, boundary)), Buffer.from(`--${boundary}--\r\n`)]
  return {
    body: Buffer.concat(body),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  }
}

function partOf({ name, filename, type, lines = [], content }: FormPart, boundary: string): Buffer {
  const parameters = Object.entries({ name, filename }).flatMap(([key, value]) =>
    value === undefined ? [] : [`; ${key}="${value}"`],
  )
  const head = [
    `--${boundary}`,
    `Content-Disposition: form-data${parameters.join('')}`,
    ...(type === undefined ? [] : [`Content-Type: ${type}`]),
    ...lines,
  ]
  return Buffer.concat([
    Buffer.from(`${head.join('\r\n')}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ])
}

/** The two parts of a valid upload. */
export const FILE_PART: FormPart = {
  name: 'file',
  filename: 'note.txt',
  type: 'text/plain',
  content: 'Hello',
}
export const LABEL_PART: FormPart = { name: 'created_by', content: 'tests' }

/** A valid upload of this content. */
export function uploadForm(content: string | Buffer = 'Hello'): Form {
  return formOf([LABEL_PART, { ...FILE_PART, content }])
}
