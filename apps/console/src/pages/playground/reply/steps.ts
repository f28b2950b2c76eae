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
    | 'file'
    | 'other'
  readonly id: string | undefined
  readonly name: string | undefined
  readonly state: 'running' | 'done' | 'failed'
  readonly elapsedMs: number | undefined
  /** What can be read: reasoning, thoughts, questions and texts that replace others. */
  readonly text: string
  /** What went into a tool; its pieces are joined. */
  readonly input: string
  /** What came out of a tool. */
  readonly output: string
  readonly sources: readonly Source[]
  /** Variables and forms. */
  readonly values: readonly unknown[]
  /** What the platform sent beyond that. */
  readonly raw: readonly unknown[]
}

export type Source = Extract<DetailEvent, { type: 'sources' }>['data']['items'][number]

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

function newStep(event: DetailEvent): Step {
  const { type, id, name, status, elapsed_ms, raw } = event
  return {
    kind: KINDS[type],
    id,
    name,
    state: type === 'node_started' || type === 'tool_call' ? 'running' : ended(status),
    elapsedMs: elapsed_ms,
    ...NOTHING,
    ...contentOf(event, NOTHING),
    raw: raw === undefined ? [] : [raw],
  }
}

function continued(step: Step, event: DetailEvent): Step {
  const { type, id, name, status, elapsed_ms, raw } = event
  const hasState = step.kind === 'node' || step.kind === 'tool'
  return {
    ...step,
    id: step.id ?? id,
    name: step.name ?? name,
    elapsedMs: elapsed_ms ?? step.elapsedMs,
    ...(hasState && { state: type === 'tool_call' ? 'running' : ended(status) }),
    ...contentOf(event, step),
    raw: raw === undefined ? step.raw : [...step.raw, raw],
  }
}

type Content = Pick<Step, 'text' | 'input' | 'output' | 'sources' | 'values'>

const NOTHING: Content = { text: '', input: '', output: '', sources: [], values: [] }

/** What an event changes of the content of its step. */
function contentOf({ type, data }: DetailEvent, before: Content): Partial<Content> {
  switch (type) {
    case 'tool_call':
      return { input: data.arguments ?? before.input + (data.arguments_delta ?? '') }
    case 'tool_result':
      return { input: data.arguments ?? before.input, output: data.output }
    case 'reasoning':
      return { text: before.text + data.text }
    case 'thought':
      return { text: data.text === '' ? before.text : data.text }
    case 'replaced':
      return { text: data.text }
    case 'file':
      return { text: data.url ?? '' }
    case 'sources':
      return { sources: data.items }
    case 'variables':
      return { values: Object.keys(data.values).length === 0 ? [] : [data.values] }
    case 'interaction':
      return {
        text: [data.question ?? '', ...data.options.map((option) => `- ${option}`)]
          .filter((line) => line !== '')
          .join('\n'),
        values: data.form === undefined ? [] : [data.form],
      }
    default:
      return {}
  }
}

const ended = (status: string | undefined): Step['state'] =>
  status !== undefined && FAILED.test(status) ? 'failed' : 'done'

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
  file: 'file',
  other: 'other',
}
