import { randomUUID } from 'node:crypto'
import { countTokens } from '../replies/compose-reply.ts'
import type { Script } from '../replies/player.ts'
import { frame } from '../replies/sse.ts'
import { difyError, difyJson } from './errors.ts'
import { type DifyRun, difyCommon, difyFrames, difyMetadata, type Emit } from './script.ts'

const WORKFLOW_ID = '7c3e33d4-2a8b-4e5f-9b1a-d3c6e8f12345'
const NODE_ERROR = '[openai] Bad Request Error, 400'

type Status = 'succeeded' | 'failed' | 'stopped'

interface Flow {
  readonly run: DifyRun
  readonly workflowRunId: string
  /** Adds `workflow_run_id` to the fields that every frame of this kind of app has. */
  readonly emit: Emit
  readonly nodeFails: boolean
}

/** A chatflow: a message's events inside those of a workflow. The year decides which of them ends last. */
export function difyChatflowScript(run: DifyRun, year: 2025 | 2026, nodeFails: boolean): Script {
  const message = difyFrames(run)
  const workflowRunId = randomUUID()
  const emit: Emit = (event, fields) => message(event, { workflow_run_id: workflowRunId, ...fields })
  const flow: Flow = { run, workflowRunId, emit, nodeFails }
  const { messageId: id, replacement } = run

  return {
    ...difyCommon(message),
    opening: () => started(flow, chatInputs(flow)),
    fragment: (answer) => message('message', { id, answer, from_variable_selector: ['llm', 'text'] }),
    closing(answer, end) {
      const finished = workflowFinished(flow, answer, statusOf(flow, end), { answer })
      // Since 2026 only the workflow's status reports a failed node.
      if (nodeFails) return finished + (year === 2026 ? '' : message('error', RUN_FAILED))
      const replaced = replacement
        ? message('message_replace', { answer: replacement, reason: 'output_moderation' })
        : ''
      const messageEnd = message('message_end', { id, metadata: difyMetadata(run, answer), files: [] })
      return replaced + (year === 2026 ? messageEnd + finished : finished + messageEnd)
    },
    blocking: (answer) =>
      nodeFails
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
export function difyWorkflowScript(run: DifyRun, nodeFails: boolean): Script {
  const workflowRunId = randomUUID()
  const emit: Emit = (event, fields) =>
    frame(JSON.stringify({ event, workflow_run_id: workflowRunId, task_id: run.taskId, ...fields }))
  const flow: Flow = { run, workflowRunId, emit, nodeFails }
  const { replacement } = run

  return {
    ...difyCommon((event, fields) => frame(JSON.stringify({ event, ...fields }))),
    opening: () => started(flow, { query: run.query }),
    fragment: (text) => emit('text_chunk', { data: { text, from_variable_selector: ['llm', 'text'] } }),
    closing: (text, end) =>
      (replacement ? emit('text_replace', { data: { text: replacement } }) : '') +
      workflowFinished(flow, text, statusOf(flow, end), { text: replacement ?? text }),
    // A failed run also has status 200.
    blocking: (text, end) =>
      difyJson(200, {
        task_id: run.taskId,
        workflow_run_id: workflowRunId,
        data: outcome(flow, text, statusOf(flow, end), { text: replacement ?? text }),
      }),
  }
}

function statusOf({ nodeFails }: Flow, end: 'finished' | 'stopped'): Status {
  if (end === 'stopped') return 'stopped'
  return nodeFails ? 'failed' : 'succeeded'
}

function started({ run, workflowRunId, emit }: Flow, inputs: object): string {
  const data = { id: workflowRunId, workflow_id: WORKFLOW_ID, inputs, created_at: run.createdAt }
  return (
    emit('workflow_started', { data }) +
    emit('node_started', { data: node(run, START) }) +
    emit('node_finished', { data: finishedNode(run, START, 'succeeded', { 'sys.query': run.query }) }) +
    emit('node_started', { data: node(run, LLM) })
  )
}

function workflowFinished(flow: Flow, text: string, status: Status, outputs: object): string {
  const { run, emit } = flow
  const model = finishedNode(
    run,
    LLM,
    status,
    { text, usage: {}, finish_reason: run.finish },
    totalTokens(run, text),
  )
  return (
    emit('node_finished', { data: model }) +
    emit('workflow_finished', {
      data: {
        ...outcome(flow, text, status, outputs),
        created_by: { id: 'eu-1', user: run.user },
        exceptions_count: 0,
        files: [],
      },
    })
  )
}

function outcome({ run, workflowRunId }: Flow, text: string, status: Status, outputs: object) {
  return {
    id: workflowRunId,
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

const START = {
  node_id: '1711528914102',
  node_type: 'start',
  title: '开始',
  index: 1,
  predecessor_node_id: null,
}
const LLM = { node_id: 'llm', node_type: 'llm', title: 'LLM', index: 2, predecessor_node_id: '1711528914102' }

const UNNESTED = {
  parallel_id: null,
  parallel_start_node_id: null,
  parent_parallel_id: null,
  parent_parallel_start_node_id: null,
  iteration_id: null,
  loop_id: null,
}

function node({ createdAt }: DifyRun, place: typeof START | typeof LLM) {
  return {
    id: `ne-${place.node_id}`,
    ...place,
    inputs: null,
    inputs_truncated: false,
    created_at: createdAt,
    extras: {},
    ...UNNESTED,
    parallel_run_id: null,
    agent_strategy: null,
  }
}

function finishedNode(
  { createdAt }: DifyRun,
  place: typeof START | typeof LLM,
  status: Status,
  outputs: object,
  totalTokens?: number,
) {
  const failed = status === 'failed'
  return {
    id: `ne-${place.node_id}`,
    ...place,
    inputs: {},
    inputs_truncated: false,
    process_data: null,
    process_data_truncated: false,
    outputs: failed ? null : outputs,
    outputs_truncated: false,
    status,
    error: failed ? NODE_ERROR : null,
    elapsed_time: 0.52,
    execution_metadata:
      failed || totalTokens === undefined
        ? null
        : { total_tokens: totalTokens, total_price: '0.0000530', currency: 'USD' },
    created_at: createdAt,
    finished_at: createdAt + 1,
    files: [],
    ...UNNESTED,
  }
}

function chatInputs({ run, workflowRunId }: Flow) {
  return {
    'sys.query': run.query,
    'sys.files': [],
    'sys.conversation_id': run.conversationId,
    'sys.user_id': run.user,
    'sys.dialogue_count': run.turn - 1,
    'sys.app_id': 'a',
    'sys.workflow_id': WORKFLOW_ID,
    'sys.workflow_run_id': workflowRunId,
  }
}
