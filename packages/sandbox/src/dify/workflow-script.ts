import { countTokens } from '../replies/compose-reply.ts'
import type { Script } from '../replies/player.ts'
import { frame } from '../replies/sse.ts'
import { difyError, difyJson } from './errors.ts'
import { describeForm, type Form } from './human-input.ts'
import { flowFiles, workflowOutputs } from './made-files.ts'
import { type DifyRun, difyCommon, difyFrames, difyMetadata, type Emit } from './script.ts'
import { finishedNode, LLM, NODE_ERROR, node, type Place, START, type Status } from './workflow-nodes.ts'

const WORKFLOW_ID = '7c3e33d4-2a8b-4e5f-9b1a-d3c6e8f12345'

/** The stretch of a run between two pauses. */
export interface FlowPart {
  /** The forms with whose answers it goes on; none before the first pause. */
  readonly answered: readonly Form[]
  /** The forms at which it pauses; none if it goes on to the end. */
  readonly waiting: readonly Form[]
}

interface Flow {
  readonly run: DifyRun
  /** Adds `workflow_run_id` to the fields that every frame of this kind of app has. */
  readonly emit: Emit
  readonly nodeFails: boolean
  /** Undefined in a run that does not pause. */
  readonly part: FlowPart | undefined
}

/**
 * A chatflow: a message's events inside those of a workflow. The year decides which of them ends last; only releases of 2026
 * can pause.
 */
export function difyChatflowScript(
  run: DifyRun,
  year: 2025 | 2026,
  nodeFails: boolean,
  part?: FlowPart,
): Script {
  const message = difyFrames(run)
  const emit: Emit = (event, fields) => message(event, { workflow_run_id: run.workflowRunId, ...fields })
  const flow: Flow = { run, emit, nodeFails, part }
  const { messageId: id, replacement } = run

  return {
    ...difyCommon(message),
    opening: () => opening(flow, chatInputs(run)),
    fragment: (answer) => message('message', { id, answer, from_variable_selector: ['llm', 'text'] }),
    closing(answer, end) {
      if (part?.waiting.length && end === 'finished') return paused(flow, part.waiting)
      const finished = workflowFinished(flow, answer, statusOf(flow, end), { answer })
      // Since 2026 only the workflow's status reports a failed node.
      if (nodeFails) return finished + (year === 2026 ? '' : message('error', RUN_FAILED))
      const replaced = replacement
        ? message('message_replace', { answer: replacement, reason: 'output_moderation' })
        : ''
      const files = flowFiles(run.made)
      const messageEnd = message('message_end', { id, metadata: difyMetadata(run, answer), files })
      return replaced + (year === 2026 ? messageEnd + finished : finished + messageEnd)
    },
    blocking: (answer) =>
      part
        ? PAUSES_BLOCKING
        : nodeFails
          ? difyError(RUN_FAILED.status, RUN_FAILED.code, RUN_FAILED.message)
          : difyJson(200, {
              event: 'message',
              task_id: run.taskId,
              id,
              message_id: id,
              conversation_id: run.conversationId,
              mode: 'advanced-chat',
              answer: replacement ?? answer,
              metadata: difyMetadata(run, answer),
              created_at: run.createdAt,
            }),
  }
}

const RUN_FAILED = { code: 'invalid_param', status: 400, message: `Run failed: ${NODE_ERROR}` }

/** A workflow app, which has no message or conversation and reports tokens only as a total. */
export function difyWorkflowScript(run: DifyRun, nodeFails: boolean, part?: FlowPart): Script {
  const emit: Emit = (event, fields) =>
    frame(JSON.stringify({ event, workflow_run_id: run.workflowRunId, task_id: run.taskId, ...fields }))
  const flow: Flow = { run, emit, nodeFails, part }
  const { replacement } = run

  return {
    ...difyCommon((event, fields) => frame(JSON.stringify({ event, ...fields }))),
    opening: () => opening(flow, { query: run.query }),
    fragment: (text) => emit('text_chunk', { data: { text, from_variable_selector: ['llm', 'text'] } }),
    closing: (text, end) =>
      part?.waiting.length && end === 'finished'
        ? paused(flow, part.waiting)
        : (replacement ? emit('text_replace', { data: { text: replacement } }) : '') +
          workflowFinished(flow, text, statusOf(flow, end), workflowOutputs(replacement ?? text, run.made)),
    // A failed run also has status 200.
    blocking: (text, end) =>
      part
        ? PAUSES_BLOCKING
        : difyJson(200, {
            task_id: run.taskId,
            workflow_run_id: run.workflowRunId,
            data: outcome(run, text, statusOf(flow, end), workflowOutputs(replacement ?? text, run.made)),
          }),
  }
}

/**
 * In release 1.13 the reader of a blocking reply waits for the end of the run, which does not come: the run has begun and is
 * paused, and the client learns nothing of it. Later releases reply with the event `workflow_paused`.
 */
const PAUSES_BLOCKING = difyError(400, 'invalid_param', 'queue listening stopped unexpectedly.')

/** The only event that the route of events has for a run that has ended. Its task is the run. */
export function endedRun(run: DifyRun, text: string, status: Status): string {
  const answer = run.replacement ?? text
  const id = run.workflowRunId
  const data = ended(run, text, status, run.conversationId ? { answer } : workflowOutputs(answer, run.made))
  const { body } = difyJson(200, { event: 'workflow_finished', task_id: id, workflow_run_id: id, data })
  return frame(body)
}

function statusOf({ nodeFails }: Flow, end: 'finished' | 'stopped'): Status {
  if (end === 'stopped') return 'stopped'
  return nodeFails ? 'failed' : 'succeeded'
}

function opening({ run, emit, part }: Flow, inputs: object): string {
  const { answered = [], waiting = [] } = part ?? {}
  const resumes = answered.length > 0
  const data = {
    id: run.workflowRunId,
    workflow_id: WORKFLOW_ID,
    inputs,
    created_at: run.createdAt,
    ...(part && { reason: resumes ? 'resumption' : 'initial' }),
  }
  return [
    emit('workflow_started', { data }),
    resumes ? '' : emit('node_started', { data: node(run, START) }),
    resumes
      ? ''
      : emit('node_finished', { data: finishedNode(run, START, 'succeeded', { 'sys.query': run.query }) }),
    ...answered.map((form) => filled({ run, emit }, form)),
    ...waiting.map((form) => emit('node_started', { data: node(run, placeOf(form)) })),
    waiting.length > 0 ? '' : emit('node_started', { data: node(run, LLM) }),
  ].join('')
}

/** The node runs once more, now to its end. Later releases also tell what was submitted (`submitted_data`). */
function filled({ run, emit }: Pick<Flow, 'run' | 'emit'>, form: Form): string {
  if (!form.submission) return ''
  const { action, inputs } = form.submission
  const outputs = { ...inputs, __action_id: action.id, __rendered_content: form.content }
  return (
    emit('node_started', { data: node(run, placeOf(form)) }) +
    emit('human_input_form_filled', {
      data: {
        node_id: form.nodeId,
        node_title: form.nodeTitle,
        rendered_content: form.content,
        action_id: action.id,
        action_text: action.title,
      },
    }) +
    emit('node_finished', { data: finishedNode(run, placeOf(form), 'succeeded', outputs) })
  )
}

function paused({ run, emit }: Flow, forms: readonly Form[]): string {
  const data = {
    workflow_run_id: run.workflowRunId,
    paused_nodes: forms.map(({ nodeId }) => nodeId),
    outputs: {},
    reasons: forms.map((form) => ({ TYPE: 'human_input_required', ...describeForm(form) })),
    status: 'paused',
    created_at: run.createdAt,
    elapsed_time: 0.55,
    total_tokens: 0,
    total_steps: 1 + forms.length,
  }
  const isEmpty = forms.every((form) => form.isEmpty)
  return (
    forms
      .map((form) => emit('human_input_required', { data: form.isEmpty ? {} : describeForm(form) }))
      .join('') + emit('workflow_paused', { data: isEmpty ? {} : data })
  )
}

function placeOf({ nodeId, nodeTitle }: Form): Place {
  return {
    node_id: nodeId,
    node_type: 'human-input',
    title: nodeTitle,
    index: 2,
    predecessor_node_id: START.node_id,
  }
}

function workflowFinished({ run, emit }: Flow, text: string, status: Status, outputs: object): string {
  const model = finishedNode(
    run,
    LLM,
    status,
    { text, usage: {}, finish_reason: run.finish },
    totalTokens(run, text),
  )
  return (
    emit('node_finished', { data: model }) +
    emit('workflow_finished', { data: ended(run, text, status, outputs) })
  )
}

function ended(run: DifyRun, text: string, status: Status, outputs: object) {
  return {
    ...outcome(run, text, status, outputs),
    created_by: { id: 'eu-1', user: run.user },
    exceptions_count: 0,
    files: flowFiles(run.made),
  }
}

function outcome(run: DifyRun, text: string, status: Status, outputs: object) {
  return {
    id: run.workflowRunId,
    workflow_id: WORKFLOW_ID,
    status,
    outputs: status === 'failed' ? {} : outputs,
    error: status === 'failed' ? NODE_ERROR : null,
    elapsed_time: 2.71,
    total_tokens: status === 'failed' ? 0 : totalTokens(run, text),
    total_steps: 2,
    created_at: run.createdAt,
    finished_at: run.createdAt + 3,
  }
}

function totalTokens({ promptTokens }: DifyRun, text: string): number {
  return promptTokens + countTokens(text)
}

function chatInputs(run: DifyRun) {
  return {
    'sys.query': run.query,
    'sys.files': [],
    'sys.conversation_id': run.conversationId,
    'sys.user_id': run.user,
    'sys.dialogue_count': run.turn - 1,
    'sys.app_id': 'a',
    'sys.workflow_id': WORKFLOW_ID,
    'sys.workflow_run_id': run.workflowRunId,
  }
}
