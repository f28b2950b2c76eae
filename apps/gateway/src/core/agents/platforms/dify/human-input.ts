import type { AgentCall, HelperCall, UpstreamRequest } from '#core/agents/adapter.ts'
import type { Failure } from '#core/agents/events.ts'
import type { Pause, PauseAnswer, PauseField } from '#core/agents/pause.ts'
import { agentFile } from '#core/agents/translate/agent-file.ts'
import { bearer, jsonPost } from '#core/agents/translate/plain-requests.ts'
import { type JsonObject, listOf, objectOf, textOf } from '#core/base/values/json.ts'
import { difyRefusal } from './failures.ts'
import { fileInfo } from './files.ts'

/** What Dify needs in order to go on after a form. */
export interface DifyResume {
  /** The token in the address of the form, which alone authorizes an answer. */
  readonly token: string
  readonly workflowRunId: string
  readonly taskId: string
}

/** A place in the text of a form where a field is shown. */
const FIELD_MARK = /\{\{#\$outputs?\.([^#]+)#\}\}/g

const FIELD_TYPES: Readonly<Record<string, PauseField['type']>> = {
  paragraph: 'paragraph',
  text_input: 'text',
  'text-input': 'text',
  number: 'number',
  select: 'select',
  checkbox: 'checkbox',
  file: 'file',
  'file-list': 'file-list',
  file_list: 'file-list',
}

/** The pause of a `human_input_required` event. A form without a token was delivered by other means, such as e-mail. */
export function formPause(frame: JsonObject): Pause {
  const data = objectOf(frame.data)
  const token = textOf(data.form_token)
  const workflowRunId = textOf(frame.workflow_run_id) ?? textOf(data.workflow_run_id)
  const question = (textOf(data.form_content) ?? '').replaceAll(FIELD_MARK, '[$1]')
  const expiresAt = dateOf(data.expiration_time)
  const common = { question, ...(expiresAt !== undefined && { expiresAt }), takesText: false }
  if (token === undefined || workflowRunId === undefined)
    return { ...common, options: [], fields: [], unanswerable: ELSEWHERE }
  const defaults = objectOf(data.resolved_default_values)
  return {
    ...common,
    options: listOf(data.actions).flatMap((action) => {
      const { id: given, title } = objectOf(action)
      const id = textOf(given) ?? textOf(title)
      return id === undefined ? [] : [{ id, title: textOf(title) ?? id }]
    }),
    fields: listOf(data.inputs).flatMap((input) => fieldOf(objectOf(input), defaults)),
    resume: { token, workflowRunId, taskId: textOf(frame.task_id) ?? '' },
  }
}

const ELSEWHERE =
  'the agent has sent this form by other means, such as e-mail, and it can be answered only there.'

/** A button alone may leave the texts of a form empty. */
function fieldOf(input: JsonObject, defaults: JsonObject): readonly PauseField[] {
  const name = textOf(input.output_variable_name)
  if (name === undefined) return []
  const label = textOf(input.label)
  const source = objectOf(input.option_source)
  const options = listOf(source.value ?? input.options).flatMap((each) => textOf(each) ?? [])
  const preset = defaults[name] ?? constantOf(input.default)
  const hasPreset = preset !== undefined && preset !== null && preset !== ''
  return [
    {
      name,
      ...(label !== undefined && { label }),
      type: FIELD_TYPES[textOf(input.type) ?? ''] ?? 'text',
      required: input.required === true,
      ...(options.length > 0 && { options }),
      ...(hasPreset && { default: preset }),
    },
  ]
}

function constantOf(preset: unknown): unknown {
  const { type, value } = objectOf(preset)
  return type === 'variable' ? undefined : value
}

/** Seconds since the epoch. */
function dateOf(seconds: unknown): string | undefined {
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return undefined
  const date = new Date(seconds * 1_000)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

export function resumeOf({ resume }: Pick<Pause, 'resume'>): DifyResume {
  const { token, workflowRunId, taskId } = objectOf(resume)
  return {
    token: textOf(token) ?? '',
    workflowRunId: textOf(workflowRunId) ?? '',
    taskId: textOf(taskId) ?? '',
  }
}

/** Listens to the rest of a run. It ends at the next pause, and what is said before it has begun nobody hears. */
export function listen(call: AgentCall, { pause }: PauseAnswer): UpstreamRequest {
  const { workflowRunId } = resumeOf(pause)
  const user = encodeURIComponent(call.endUser)
  const path = `/workflow/${encodeURIComponent(workflowRunId)}/events?user=${user}`
  return { method: 'GET', url: call.agent.apiUrl + path, headers: bearer(call) }
}

/** Fills in the form. */
export function submitForm(call: AgentCall, { pause, option, fields }: PauseAnswer): HelperCall<void> {
  const { token } = resumeOf(pause)
  const kinds = new Map(pause.fields.map(({ name, type }) => [name, type]))
  const inputs = Object.fromEntries(
    Object.entries({ ...leftOut(pause), ...fields }).map(([name, value]) => [
      name,
      inputOf(value, kinds.get(name)),
    ]),
  )
  const body = { inputs, action: option ?? '', user: call.endUser }
  return {
    request: jsonPost(
      `${call.agent.apiUrl}/form/human_input/${encodeURIComponent(token)}`,
      bearer(call),
      body,
    ),
    read(status, reply, header) {
      if (status < 300) return { ok: undefined }
      return { failure: formFailure(status, difyRefusal(status, reply, header)) }
    },
  }
}

/** Dify wants a value for every field of a form, also for those that were left empty. */
function leftOut({ fields }: Pick<Pause, 'fields'>): JsonObject {
  return Object.fromEntries(
    fields.flatMap(({ name, type, default: preset }) => {
      const isText = type === 'text' || type === 'paragraph'
      const value = preset ?? (isText ? '' : type === 'file-list' ? [] : undefined)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** A form that is gone, expired or answered is 404 or 412. What Dify refuses as wrong or unknown has left the form as it was. */
function formFailure(status: number, failure: Failure): Failure {
  if (status === 404 || status === 412) return { reason: 'pause_over', turn: 'none', platformStatus: status }
  return status === 400 || status === 401 ? { ...failure, turn: 'none' } : withoutTurn(failure)
}

function withoutTurn({ turn: _turn, ...failure }: Failure): Failure {
  return failure
}

function inputOf(value: unknown, type: PauseField['type'] | undefined): unknown {
  switch (type) {
    case 'file':
      return fileInfo(agentFile(String(value)))
    case 'file-list':
      return listOf(value).map((url) => fileInfo(agentFile(String(url))))
    case 'text':
    case 'paragraph':
      return String(value)
    default:
      return value
  }
}

/**
 * Skips what a stream repeats of the run up to the pause that was answered. A repetition begins with the beginning of the run, and
 * has the form of that pause; what goes on from it comes after it.
 */
export class Replay {
  readonly #token: string
  #state: 'unknown' | 'repeats' | 'live' = 'unknown'
  #sawForm = false

  constructor(token: string) {
    this.#token = token
  }

  /** Whether an event is of the run up to the pause. */
  skips(frame: JsonObject): boolean {
    if (this.#state === 'live') return false
    const data = objectOf(frame.data)
    if (this.#state === 'unknown') {
      const isBeginning = frame.event === 'workflow_started' && data.reason === 'initial'
      const isForm = frame.event === 'human_input_required' && data.form_token === this.#token
      this.#state = isBeginning || isForm ? 'repeats' : 'live'
      if (this.#state === 'live') return false
    }
    this.#sawForm ||= frame.event === 'human_input_required' && data.form_token === this.#token
    if (frame.event === 'workflow_paused' && this.#sawForm) this.#state = 'live'
    return true
  }
}
