/** One frame of a reply, as the gateway has sent it. */
export interface Frame {
  readonly id: string | undefined
  readonly kind: 'text' | 'detail' | 'end' | 'error' | 'done' | 'other'
  /** What the frame adds: a piece of the text, the kind of a detail, the reason of the end. */
  readonly delta: string
  /** The data, indented where it is JSON. */
  readonly data: string
}

/** Divides the text of an event stream into its frames. What is no frame, such as a comment, is one of the kind `other`. */
export function parseFrames(text: string): readonly Frame[] {
  return text
    .split(/\r?\n\r?\n/)
    .filter((block) => block.trim() !== '')
    .map(frameOf)
}

function frameOf(block: string): Frame {
  const lines = block.split(/\r?\n/)
  const valuesOf = (field: string) =>
    lines
      .filter((line) => line.startsWith(`${field}:`))
      .map((line) => line.slice(field.length + 1).trimStart())
  const data = valuesOf('data').join('\n')
  const id = valuesOf('id').at(-1)
  if (data === '[DONE]') return { id, kind: 'done', delta: data, data }
  const parsed = jsonOf(data)
  if (parsed === undefined) return { id, kind: 'other', delta: data || block, data: data || block }
  return { id, ...deltaOf(parsed), data: JSON.stringify(parsed, null, 2) }
}

function jsonOf(data: string): object | undefined {
  try {
    const parsed: unknown = JSON.parse(data)
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined
  } catch {
    return undefined
  }
}

interface ChunkLike {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: unknown }
    readonly finish_reason?: unknown
  }[]
  readonly detail?: { readonly type?: unknown; readonly name?: unknown }
  readonly error?: { readonly reason?: unknown; readonly message?: unknown }
}

function deltaOf(parsed: ChunkLike): Pick<Frame, 'kind' | 'delta'> {
  const { choices, detail, error } = parsed
  if (error != null) return { kind: 'error', delta: String(error.reason ?? error.message ?? '') }
  const choice = Array.isArray(choices) ? (choices as ChunkLike['choices'])?.[0] : undefined
  const content = choice?.delta?.content
  if (typeof content === 'string' && content !== '') return { kind: 'text', delta: content }
  if (detail != null)
    return { kind: 'detail', delta: [detail.type, detail.name].filter((part) => part != null).join(' · ') }
  if (typeof choice?.finish_reason === 'string') return { kind: 'end', delta: choice.finish_reason }
  return { kind: 'other', delta: Object.keys(parsed).join(', ') }
}
