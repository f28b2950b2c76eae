import type { DetailEvent } from '@trunkline/sdk'

/** One line of the time line. Events that belong together, such as the start and the end of a node, are one step. */
export interface Step {
  readonly kind:
    | 'node'
    | 'tool'
    | 'thought'
    | 'reasoning'
    | 'sources'
    | 'variables'
    | 'interaction'
    | 'replaced'
    | 'other'
  readonly id: string | undefined
  readonly name: string | undefined
  readonly state: 'running' | 'done' | 'failed'
  readonly elapsedMs: number | undefined
  /** What can be read: reasoning and thoughts. */
  readonly text: string
  /** What went in and came out, in the form of the platform. */
  readonly data: readonly unknown[]
}

const FAILED = /fail|error|abort|stopped/i

/** Folds the events of a reply, in their order, into the steps that a reader sees. */
export function foldSteps(events: readonly DetailEvent[]): readonly Step[] {
  const steps: Step[] = []
  for (const event of events) {
    const at = indexOfStep(steps, event)
    if (at === undefined) steps.push(newStep(event))
    else steps[at] = continued(steps[at] as Step, event)
  }
  return steps
}

/** The step that an event goes on with, if there is one. */
function indexOfStep(steps: readonly Step[], { type, id, name }: DetailEvent): number | undefined {
  const isSame = (step: Step) =>
    id !== undefined && step.id !== undefined ? step.id === id : step.name === name
  const last = (matches: (step: Step) => boolean) => {
    const at = steps.findLastIndex(matches)
    return at === -1 ? undefined : at
  }
  switch (type) {
    case 'node_finished':
      return last((step) => step.kind === 'node' && step.state === 'running' && isSame(step))
    case 'tool_call':
      // The input of a tool may come in pieces, of which only the first names it.
      return last(
        (step) =>
          step.kind === 'tool' &&
          step.state === 'running' &&
          (name === undefined || id !== undefined) &&
          isSameCall(step, id),
      )
    case 'tool_result':
      return last(
        (step) => step.kind === 'tool' && step.state === 'running' && (isSame(step) || id === undefined),
      )
    case 'thought':
      return id === undefined ? undefined : last((step) => step.kind === 'thought' && step.id === id)
    case 'reasoning':
      return steps.at(-1)?.kind === 'reasoning' ? steps.length - 1 : undefined
    default:
      return undefined
  }
}

const isSameCall = (step: Step, id: string | undefined): boolean => id === undefined || step.id === id

function newStep({ type, id, name, status, data, elapsed_ms }: DetailEvent): Step {
  const kind = KINDS[type]
  const text = kind === 'reasoning' || kind === 'thought' ? textOf(data) : undefined
  return {
    kind,
    id,
    name,
    state: type === 'node_started' || type === 'tool_call' ? 'running' : ended(status),
    elapsedMs: elapsed_ms,
    text: text ?? '',
    data: text !== undefined || data === undefined ? [] : [data],
  }
}

function continued(step: Step, { type, id, name, status, data, elapsed_ms }: DetailEvent): Step {
  const common = {
    ...step,
    id: step.id ?? id,
    name: step.name ?? name,
    elapsedMs: elapsed_ms ?? step.elapsedMs,
  }
  if (step.kind === 'reasoning') return { ...common, text: step.text + (textOf(data) ?? '') }
  if (step.kind === 'thought') return { ...common, text: textOf(data) ?? step.text }
  return {
    ...common,
    state: type === 'tool_call' ? 'running' : ended(status),
    data: data === undefined ? step.data : joined(step.data, data),
  }
}

/** Pieces of a text are put together again; everything else is listed. */
function joined(earlier: readonly unknown[], data: unknown): readonly unknown[] {
  const delta = pieceOf(data)
  const last = earlier.at(-1)
  if (delta === undefined || earlier.length === 0) return [...earlier, data]
  const before = pieceOf(last)
  return before === undefined
    ? [...earlier, { params_delta: delta }]
    : [...earlier.slice(0, -1), { params_delta: before + delta }]
}

function pieceOf(data: unknown): string | undefined {
  const piece = (data as { readonly params_delta?: unknown } | null)?.params_delta
  return typeof piece === 'string' ? piece : undefined
}

const ended = (status: string | undefined): Step['state'] =>
  status !== undefined && FAILED.test(status) ? 'failed' : 'done'

function textOf(data: unknown): string | undefined {
  if (typeof data === 'string') return data
  const text = (data as { readonly text?: unknown } | null | undefined)?.text
  return typeof text === 'string' ? text : undefined
}

const KINDS: Readonly<Record<DetailEvent['type'], Step['kind']>> = {
  node_started: 'node',
  node_finished: 'node',
  tool_call: 'tool',
  tool_result: 'tool',
  thought: 'thought',
  reasoning: 'reasoning',
  sources: 'sources',
  variables: 'variables',
  interaction: 'interaction',
  replaced: 'replaced',
  other: 'other',
}

/** A source as a reader wants it, as far as the platform's form is known. */
export interface Source {
  readonly title: string
  readonly text: string
}

/** The sources of a step; undefined where the platform's form is not known, which is then shown as it is. */
export function sourcesOf(step: Step): readonly Source[] | undefined {
  if (step.kind !== 'sources') return undefined
  const items = step.data.flatMap((data) => (Array.isArray(data) ? (data as unknown[]) : [undefined]))
  const sources = items.map(sourceOf)
  return sources.every((source) => source !== undefined) ? sources : undefined
}

function sourceOf(item: unknown): Source | undefined {
  const { document_name, title, content } = (item ?? {}) as Record<string, unknown>
  const name = document_name ?? title
  if (typeof name !== 'string') return undefined
  return { title: name, text: typeof content === 'string' ? content : '' }
}
