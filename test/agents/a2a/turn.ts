import { randomUUID } from 'node:crypto'
import { type Message, type Part, Role, TaskState } from '@a2a-js/sdk'
import {
  AgentEvent,
  type AgentExecutionEvent,
  type ExecutionEventBus,
  type RequestContext,
} from '@a2a-js/sdk/server'
import { type Caller, callerOf } from './caller.ts'

/** Where a part of an artifact belongs. */
interface Place {
  readonly id: string
  readonly name: string
  /** Whether it follows other parts of the artifact; otherwise it takes the place of those that are there. */
  readonly append?: boolean
  readonly lastChunk?: boolean
}

/** One message of a client, and the events with which the agent responds to it. */
export class Turn {
  readonly taskId: string
  readonly contextId: string
  readonly message: Message
  readonly caller: Caller
  readonly #context: RequestContext
  readonly #bus: ExecutionEventBus
  #published = 0

  constructor(context: RequestContext, bus: ExecutionEventBus) {
    this.taskId = context.taskId
    this.contextId = context.contextId
    this.message = context.userMessage
    this.caller = callerOf(context.context)
    this.#context = context
    this.#bus = bus
  }

  /** The events so far, each of which is a frame of a stream. */
  get published(): number {
    return this.#published
  }

  /** Publishes the task: a new one, or the one that a message goes on with. */
  open(): void {
    const { taskId: id, contextId, message } = this
    const status = statusOf(TaskState.TASK_STATE_SUBMITTED)
    const fresh = { id, contextId, status, artifacts: [], history: [message], metadata: undefined }
    this.#publish(AgentEvent.task(this.#context.task ?? fresh))
  }

  status(state: TaskState, parts: readonly Part[] = [], metadata?: Record<string, unknown>): void {
    const { taskId, contextId } = this
    const message = parts.length > 0 ? this.#say(parts, taskId) : undefined
    this.#publish(AgentEvent.statusUpdate({ taskId, contextId, status: statusOf(state, message), metadata }))
  }

  artifact(parts: readonly Part[], { id, name, append = false, lastChunk = true }: Place): void {
    const { taskId, contextId } = this
    const more = { description: '', metadata: undefined, extensions: [] }
    const artifact = { artifactId: id, name, parts: [...parts], ...more }
    this.#publish(
      AgentEvent.artifactUpdate({ taskId, contextId, artifact, append, lastChunk, metadata: undefined }),
    )
  }

  /** Answers with a message, so that there is no task. */
  answer(parts: readonly Part[]): void {
    this.#publish(AgentEvent.message(this.#say(parts, '')))
  }

  #say(parts: readonly Part[], taskId: string): Message {
    return {
      messageId: randomUUID(),
      contextId: this.contextId,
      taskId,
      role: Role.ROLE_AGENT,
      parts: [...parts],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    }
  }

  #publish(event: AgentExecutionEvent): void {
    this.#published += 1
    this.#bus.publish(event)
  }
}

/** Publishes that a task is cancelled, when no turn of it is going on. */
export function publishCanceled(bus: ExecutionEventBus, taskId: string, contextId: string): void {
  const status = statusOf(TaskState.TASK_STATE_CANCELED)
  bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }))
}

function statusOf(state: TaskState, message?: Message) {
  return { state, message, timestamp: new Date().toISOString() }
}

export function textPart(text: string): Part {
  return part({ $case: 'text', value: text })
}

export function dataPart(value: unknown): Part {
  return part({ $case: 'data', value }, '', 'application/json')
}

/** A file at an address, or within the part if the address is a `data:` URL. */
export function filePart({ url, name, mediaType }: { url: string; name: string; mediaType: string }): Part {
  const bytes = /^data:.*?,(.*)$/s.exec(url)?.[1]
  const content = bytes === undefined ? url : Buffer.from(bytes, 'base64')
  return part(
    typeof content === 'string' ? { $case: 'url', value: content } : { $case: 'raw', value: content },
    name,
    mediaType,
  )
}

function part(content: NonNullable<Part['content']>, filename = '', mediaType = ''): Part {
  return { content, filename, mediaType, metadata: undefined }
}
