import { countTokens } from '../replies/compose-reply.ts'
import type { MadeFiles } from '../replies/made-files.ts'
import type { Script } from '../replies/player.ts'
import { frame } from '../replies/sse.ts'
import { difyErrors, difyJson } from './errors.ts'
import { filesOfMessage, messageFile } from './made-files.ts'

export interface DifyRun {
  readonly taskId: string
  readonly messageId: string
  /** Absent in completion apps. */
  readonly conversationId?: string
  /** Only apps with a workflow tell it. */
  readonly workflowRunId: string
  readonly createdAt: number
  readonly query: string
  readonly user: string
  readonly turn: number
  readonly promptTokens: number
  readonly finish: 'stop' | 'length'
  readonly made: MadeFiles
  /** The text with which moderation replaces the answer. */
  readonly replacement: string | undefined
}

export type DifyMessageKind = 'chat' | 'agent-chat' | 'agent' | 'completion'

/** A run of an app without a workflow: the text, then `message_end`. */
export function difyScript(kind: DifyMessageKind, run: DifyRun): Script {
  const emit = difyFrames(run)
  const { messageId: id, taskId, conversationId, createdAt, replacement, made } = run
  const thinks = kind === 'agent-chat'
  const text = thinks || kind === 'agent' ? 'agent_message' : 'message'

  return {
    ...difyCommon(emit),
    opening: () => (thinks ? toolThoughts.map((thought) => emit('agent_thought', thought)).join('') : ''),
    fragment: (answer) =>
      emit(text, { id, answer, ...(text === 'message' && { from_variable_selector: null }) }),
    closing: (answer) =>
      [
        thinks ? emit('agent_thought', finalThought(answer)) : '',
        // The newest agents repeat the whole answer in one message.
        kind === 'agent' ? emit('message', { id, answer, from_variable_selector: null }) : '',
        replacement ? emit('message_replace', { answer: replacement, reason: 'output_moderation' }) : '',
        ...made.files.map((file) => emit('message_file', messageFile(file))),
        emit('message_end', { id, metadata: difyMetadata(run, answer), files: filesOfMessage(made) }),
      ].join(''),
    blocking: (answer) =>
      difyJson(200, {
        event: 'message',
        task_id: taskId,
        id,
        message_id: id,
        ...(conversationId && { conversation_id: conversationId }),
        mode: kind,
        answer: replacement ?? answer,
        metadata: difyMetadata(run, answer),
        created_at: createdAt,
      }),
  }
}

export type Emit = (event: string, fields: object) => string

/** The keys that every frame of a message has, in the order of Dify's source. */
export function difyFrames({ conversationId, messageId, createdAt, taskId }: DifyRun): Emit {
  return (event, fields) =>
    frame(
      JSON.stringify({
        event,
        ...(conversationId && { conversation_id: conversationId }),
        message_id: messageId,
        created_at: createdAt,
        // Only errors lack it.
        ...(event !== 'error' && { task_id: taskId }),
        ...fields,
      }),
    )
}

export function difyCommon(
  emit: Emit,
): Pick<Script, 'streamHeaders' | 'heartbeat' | 'failure' | 'blockingFailure'> {
  return {
    streamHeaders: { 'content-type': 'text/event-stream; charset=utf-8' },
    // An event without data, which parsers that follow the SSE standard do not deliver.
    heartbeat: () => 'event: ping\n\n',
    failure: () =>
      emit('error', {
        code: 'internal_server_error',
        message: 'Internal Server Error, please contact support.',
        status: 500,
      }),
    blockingFailure: () => difyErrors.server,
  }
}

export function difyMetadata({ promptTokens }: DifyRun, answer: string) {
  const completionTokens = countTokens(answer)
  return {
    annotation_reply: null,
    retriever_resources: [HANDBOOK],
    usage: {
      prompt_tokens: promptTokens,
      prompt_unit_price: '0.001',
      prompt_price_unit: '0.001',
      prompt_price: '0.0000330',
      completion_tokens: completionTokens,
      completion_unit_price: '0.002',
      completion_price_unit: '0.001',
      completion_price: '0.0000200',
      total_tokens: promptTokens + completionTokens,
      total_price: '0.0000530',
      currency: 'USD',
      latency: 1.2,
    },
  }
}

const HANDBOOK = {
  position: 1,
  dataset_id: '101b4c97-fc2e-463c-90b1-5261a4cdcafb',
  dataset_name: '手册',
  document_id: '8dd1ad74-0b5f-4175-b735-7d98bbbb4e00',
  document_name: 'guide.md',
  data_source_type: 'upload_file',
  segment_id: 'ed599c7f-2766-4294-9d1d-e5235a61270a',
  retriever_from: 'api',
  score: 0.98,
  hit_count: null,
  word_count: null,
  segment_position: null,
  index_node_hash: null,
  content: 'One line to every agent.\n一条线路，连接每个智能体。',
  page: null,
  doc_metadata: null,
  title: null,
}

const emptyThought = {
  thought: '',
  observation: '',
  tool: '',
  tool_labels: {},
  tool_input: '',
  message_files: [],
}
const search = {
  tool: 'handbook',
  tool_labels: { handbook: { en_US: 'Handbook', zh_Hans: '手册' } },
  tool_input: '{"handbook": {"query": "gateway"}}',
}

/** Each thought is sent several times with the same id, each time with more fields filled in. */
const toolThoughts = [
  { id: 't-1', position: 1, ...emptyThought },
  { id: 't-1', position: 1, ...emptyThought, ...search },
  {
    id: 't-1',
    position: 1,
    ...emptyThought,
    ...search,
    observation: '{"handbook": "One line to every agent."}',
  },
  { id: 't-2', position: 2, ...emptyThought },
]

function finalThought(thought: string) {
  return { id: 't-2', position: 2, ...emptyThought, thought }
}
