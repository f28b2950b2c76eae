import type { AgentCall, ReplyState } from '#core/agents/adapter.ts'
import type { ChatEvent } from '#core/agents/events.ts'
import { endOfText, paragraphBreak } from '#core/agents/made-file.ts'
import type { Pause, PauseField } from '#core/agents/pause.ts'
import { detail } from '#core/agents/translate/detail-event.ts'
import { errorEvents, failureOf, MALFORMED } from '#core/agents/translate/failure.ts'
import { formOfSchema } from '#core/agents/translate/form-of-schema.ts'
import { FrameParser } from '#core/agents/translate/frame-parser.ts'
import { idOf, platformIdOf } from '#core/agents/translate/platform-id.ts'
import { endFailure } from '#core/agents/translate/replies/finish-words.ts'
import { pauseEvents } from '#core/agents/translate/replies/pause-events.ts'
import { usageIn, usageOf } from '#core/agents/translate/replies/token-counts.ts'
import {
  countOf,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  textOf,
  toJson,
} from '#core/base/values/json.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import { adkQuestionOf, adkStepEvent } from './adk-parts.ts'
import { taskFailure } from './failures.ts'
import { readParts } from './parts.ts'
import { stateOf, type Update } from './wire.ts'

/** An artifact, as far as it has come. */
interface ReadArtifact {
  /** Its text in this reply. */
  readonly text: string
  /** Files are not repeated where an agent sends the whole task again. */
  readonly files: number
}

/** How much of an artifact was part of the reply before a pause: characters and files, and with what the text ended. */
type Passed = readonly [characters: number, files: number, tail: string]

/** So much of a passed text is kept, to tell whether an agent has put another one in its place, as Mastra does. */
const TAIL_CHARACTERS = 64

export interface A2aState extends ReplyState {
  readonly frames: FrameParser
  readonly isAnswer: boolean
  /** The conversation that the message named. */
  readonly askedIn: string | undefined
  /** Whether an agent that answers in another conversation than it was asked in has lost that one. */
  readonly isStrict: boolean
  /** Whether the client gets the answer as one text, in which the pieces of each artifact can be put together. */
  readonly isWhole: boolean
  /** Whether pieces of an artifact came after those of another one that had begun later. */
  isInterleaved: boolean
  /** What earlier replies of the same task have had, by the ids of artifacts. */
  readonly passed: Map<string, Passed>
  readonly artifacts: Map<string, ReadArtifact>
  hasBegun: boolean
  hasText: boolean
  hasFile: boolean
  /** The data of the answer, which are the answer if nothing else is. */
  data: string
  /** Whether the task has reached a state in which it stays, or a message has come in its place. */
  isOver: boolean
}

/** What is known of a reply before it has begun. */
export function newState({
  answer,
  platformConversationId,
  stream,
  agent,
}: Pick<AgentCall, 'platformConversationId'> &
  Pick<Partial<AgentCall>, 'answer' | 'stream' | 'agent'>): A2aState {
  return {
    frames: new FrameParser(),
    ...omitUndefined({ runId: textOf(answer?.pause.resume?.taskId) }),
    isAnswer: answer !== undefined,
    askedIn: platformConversationId,
    isStrict: agent?.options.context === 'strict',
    isWhole: stream === false,
    isInterleaved: false,
    passed: readPassed(answer?.pause.resume),
    artifacts: new Map(),
    hasBegun: false,
    hasText: false,
    hasFile: false,
    data: '',
    isOver: false,
  }
}

/** A reply with more artifacts is none that anybody reads; what is known of each is kept until the end, and over a pause. */
const ARTIFACTS_MAX = 1_000

/** How much data without a text is kept as an answer. */
const DATA_CHARACTERS_MAX = 1024 * 1024

/** The events of one update. */
export function updateEvents(update: Update, state: A2aState, isStream: boolean): readonly ChatEvent[] {
  const isFirst = !state.hasBegun
  state.hasBegun = true
  switch (update.kind) {
    case 'message':
      return lost(update.message, state) ?? [...message(update.message, state), ...end(state)]
    case 'artifact': {
      const { artifact, append } = update.update
      learnIds(update.update, state)
      return (
        lost(update.update, state) ?? [
          ...metadata(update.update),
          ...artifactEvents(objectOf(artifact), append === true, state),
        ]
      )
    }
    case 'status':
      learnIds(update.update, state)
      return lost(update.update, state) ?? statusEvents(update.update, state)
    case 'task': {
      const { task } = update
      learnIds({ taskId: task.id, contextId: task.contextId }, state)
      const known = lost(task, state)
      if (known !== undefined) return known
      const artifacts = listOf(task.artifacts).flatMap((each) => wholeArtifact(objectOf(each), state))
      // The stream after an answer begins with the task as it waited for it.
      const isEcho = isStream && isFirst && state.isAnswer && isPaused(task)
      return [...artifacts, ...(isEcho ? [] : statusEvents(task, state))]
    }
  }
}

function learnIds({ taskId, contextId }: JsonObject, state: A2aState): void {
  const runId = idOf(taskId)
  // The first id stays, also where an agent makes a new one for each answer.
  const platformConversationId = state.askedIn ?? idOf(contextId)
  if (runId !== undefined) state.runId = runId
  const answerId = platformIdOf(taskId)
  if (answerId !== undefined) state.answerId = answerId
  if (platformConversationId !== undefined) state.platformConversationId ??= platformConversationId
}

/** An agent that answers in another conversation than it was asked in no longer knows that one, if it keeps ids at all. */
function lost({ contextId }: JsonObject, state: A2aState): readonly ChatEvent[] | undefined {
  const { askedIn, isStrict } = state
  const told = idOf(contextId)
  if (told === undefined || askedIn === undefined || told === askedIn) return undefined
  if (!isStrict) {
    state.note =
      'the agent has answered under another context id than it was asked in, and the first one stays'
    return undefined
  }
  return errorEvents(failureOf('conversation_not_found', { code: 'other_context' }))
}

function message(said: JsonObject, state: A2aState): readonly ChatEvent[] {
  learnIds({ contextId: said.contextId }, state)
  return [...metadata(said), ...partEvents(said, state)]
}

/** A piece of an artifact, or, without `append`, the whole of it, which takes the place of what has come of it. */
function artifactEvents(artifact: JsonObject, isPiece: boolean, state: A2aState): readonly ChatEvent[] {
  const id = textOf(artifact.artifactId) ?? ''
  const known = state.artifacts.get(id)
  if (known === undefined && state.artifacts.size >= ARTIFACTS_MAX) return MALFORMED
  const { text, thoughts, files, data, steps } = readParts(artifact)
  const before = isPiece ? known : undefined
  if (!isPiece) state.passed.delete(id)
  state.artifacts.set(id, {
    text: (before?.text ?? '') + text,
    files: (before?.files ?? 0) + files.length,
  })
  const others = [
    ...fileEvents(files, state),
    ...dataEvents(data, state),
    ...steps.map(adkStepEvent),
    ...metadata(artifact),
  ]
  const had = known?.text ?? ''
  const reasoning = thoughtEvents(thoughts)
  if (!isPiece) return [...reasoning, ...grownText(had, text, state), ...others]
  const isLatest = [...state.artifacts.keys()].at(-1) === id
  state.isInterleaved ||= !isLatest && text !== '' && had !== ''
  return [...reasoning, ...textEvents(text, had === '', state), ...others]
}

/** An artifact within the whole task, of which a part may have come already. */
function wholeArtifact(artifact: JsonObject, state: A2aState): readonly ChatEvent[] {
  const id = textOf(artifact.artifactId) ?? ''
  const { text: whole, thoughts, files, data, steps } = readParts(artifact)
  const [passed, fileCount, tail] = state.passed.get(id) ?? [0, 0, '']
  const isSame = whole.slice(0, passed).endsWith(tail)
  const characters = isSame ? passed : 0
  if (!isSame) state.passed.delete(id)
  const known = state.artifacts.get(id)
  if (known === undefined && state.artifacts.size >= ARTIFACTS_MAX) return MALFORMED
  const text = whole.slice(characters)
  const newFiles = files.slice(Math.max(fileCount, known?.files ?? 0))
  state.artifacts.set(id, { text, files: files.length })
  const isFresh = known === undefined
  const reasoning = isFresh ? thoughtEvents(thoughts) : []
  const steppedData = isFresh ? [...dataEvents(data, state), ...steps.map(adkStepEvent)] : []
  const grown = grownText(known?.text ?? '', text, state)
  return [...reasoning, ...grown, ...fileEvents(newFiles, state), ...steppedData]
}

/** What a text has more than the one before it, or the whole answer anew if it is another text. */
function grownText(had: string, text: string, state: A2aState): readonly ChatEvent[] {
  if (!text.startsWith(had)) return [{ type: 'replace', text: textOfAll(state) }]
  return textEvents(text.slice(had.length), had === '', state)
}

/** Artifacts are answers of their own, so an empty line is between them. */
function textOfAll({ artifacts }: A2aState): string {
  let all = ''
  let end = ''
  for (const { text } of artifacts.values()) {
    const piece = paragraphBreak(end, text) + text
    all += piece
    end = endOfText(end, piece)
  }
  return all
}

/** @param begins - whether the text is the first of its artifact */
function textEvents(text: string, begins: boolean, state: A2aState): readonly ChatEvent[] {
  if (text === '') return []
  const isNext = begins && state.hasText
  state.hasText = true
  return [{ type: 'text', text: isNext ? `\n\n${text}` : text }]
}

function thoughtEvents(thoughts: string): readonly ChatEvent[] {
  return thoughts === '' ? [] : [{ type: 'reasoning', text: thoughts }]
}

function partEvents(said: unknown, state: A2aState): readonly ChatEvent[] {
  const { text, thoughts, files, data, steps } = readParts(said)
  return [
    ...thoughtEvents(thoughts),
    ...textEvents(text, true, state),
    ...fileEvents(files, state),
    ...dataEvents(data, state),
    ...steps.map(adkStepEvent),
  ]
}

function fileEvents(files: ReturnType<typeof readParts>['files'], state: A2aState): readonly ChatEvent[] {
  state.hasFile ||= files.length > 0
  return files.map((file) => ({ type: 'file', file }))
}

function dataEvents(data: readonly unknown[], state: A2aState): readonly ChatEvent[] {
  return data.map((each) => {
    const json = state.hasText || state.hasFile ? '' : (toJson(each) ?? '')
    if (json !== '' && state.data.length + json.length <= DATA_CHARACTERS_MAX)
      state.data += state.data === '' ? json : `\n\n${json}`
    return detail({ values: isObject(each) ? each : { data: each } }, (step) => ({
      type: 'variables',
      data: { values: step.object('values') },
    }))
  })
}

/** Whether a task waits for its user: for an answer or for a sign-in. */
function isPaused({ status }: JsonObject): boolean {
  const state = stateOf(status)
  return state === 'input-required' || state === 'auth-required'
}

function statusEvents(holder: JsonObject, state: A2aState): readonly ChatEvent[] {
  const status = objectOf(holder.status)
  const word = stateOf(status)
  const said = status.message
  const counted = [...metadata(holder), ...metadata(objectOf(said))]
  switch (word) {
    case 'completed':
      return [...counted, ...finalMessage(said, state), ...end(state)]
    case 'failed':
    case 'rejected':
      return [...counted, ...errorEvents(taskFailure(word, readParts(said).text))]
    case 'canceled':
    case 'cancelled':
      return endFailure('stopped', word)
    case 'input-required':
      return [...counted, ...pauses(said, state), ...end(state)]
    case 'auth-required':
      return errorEvents(failureOf('agent_requires_action', { code: word }))
    default:
      return [...counted, ...workEvents(word, said)]
  }
}

/** The last message is the answer where no artifact has one; otherwise it is about the task. */
function finalMessage(said: unknown, state: A2aState): readonly ChatEvent[] {
  if (state.hasText || state.hasFile) return isObject(said) ? [progress('completed', said)] : []
  return partEvents(said, state)
}

/** What is said while a task works is no answer: about its progress, or what the model thinks and calls. */
function workEvents(word: string, said: unknown): readonly ChatEvent[] {
  const { text, thoughts, steps } = readParts(said)
  const others = [...thoughtEvents(thoughts), ...steps.map(adkStepEvent)]
  return text === '' && others.length > 0 ? others : [...others, progress(word, said)]
}

function progress(status: string, said: unknown): ChatEvent {
  const { messageId } = objectOf(said)
  return detail({ messageId, text: readParts(said).text, status }, (step) => ({
    type: 'other',
    id: step.text('messageId'),
    name: step.text('text'),
    status: step.text('status'),
    data: {},
  }))
}

/** The call of a tool that a question is about: Mastra's own text is the same for all of them. */
function toolIn(data: unknown): string {
  const { toolName, args } = objectOf(objectOf(data).suspendPayload)
  const name = textOf(toolName)
  return name === undefined ? '' : `${name} ${toJson(args ?? {}) ?? ''}`
}

/** The form that the data of a question describe, as Mastra sends it; empty if they describe none. */
function formOf(data: readonly unknown[]): readonly PauseField[] {
  const forms = data.map((each) => {
    const asked = objectOf(objectOf(each).suspendPayload ?? each)
    return formOfSchema(asked.resumeSchema ?? asked.schema)
  })
  return forms.find((fields) => fields.length > 0) ?? []
}

/** What is asked where the agent says nothing. */
const UNSAID = 'The agent waits for further input.'

/** Each call that ADK waits for is a question of its own. */
function pauses(said: unknown, state: A2aState): readonly ChatEvent[] {
  const { text, thoughts, steps } = readParts(said)
  const calls = steps.filter(({ isLongRunning }) => isLongRunning)
  const others = steps.filter((step) => !calls.includes(step)).map(adkStepEvent)
  if (calls.some(({ data }) => data.name === CREDENTIAL))
    return errorEvents(failureOf('agent_requires_action', { code: CREDENTIAL }))
  if (calls.length === 0) return [...thoughtEvents(thoughts), ...others, ...pause(said, state)]
  const asked = calls.flatMap((step, index) => {
    const { question, options, takesText, resume } = adkQuestionOf(step)
    const whole = index === 0 && text.trim() !== '' ? `${text}\n\n${question}` : question
    const waiting: Pause = {
      question: whole,
      options,
      fields: [],
      takesText,
      resume: { ...resumeIn(state), ...resume },
    }
    return pauseEvents(
      waiting,
      detail({ question: whole }, (each) => ({
        type: 'interaction',
        data: { question: each.text('question'), options: options.map(({ title }) => title) },
      })),
    )
  })
  return [...thoughtEvents(thoughts), ...others, ...asked]
}

/** The tool by which ADK asks for a sign-in, which no client can give. */
const CREDENTIAL = 'adk_request_credential'

function resumeIn(state: A2aState): JsonObject {
  return {
    taskId: state.runId,
    contextId: state.platformConversationId ?? state.askedIn,
    passed: passedSoFar(state),
  }
}

function pause(said: unknown, state: A2aState): readonly ChatEvent[] {
  const { text: asked, data } = readParts(said)
  const text = [asked, ...data.map(toolIn)].filter((each) => each.trim() !== '').join('\n\n')
  const fields = formOf(data)
  const pause: Pause = {
    question: text.trim() === '' && fields.length === 0 ? UNSAID : text,
    options: [],
    fields,
    takesText: fields.length === 0,
    resume: resumeIn(state),
  }
  return pauseEvents(
    pause,
    detail({ question: text, form: data }, (step) => ({
      type: 'interaction',
      data: {
        question: step.text('question'),
        options: [],
        ...(data.length > 0 && { form: step.list('form') }),
      },
    })),
  )
}

function passedSoFar({ artifacts, passed }: A2aState): readonly (readonly [string, ...Passed])[] {
  const ids = [...new Set([...passed.keys(), ...artifacts.keys()])]
  return ids.map((id) => {
    const [characters, files, tail] = passed.get(id) ?? [0, 0, '']
    const { text = '', files: count = 0 } = artifacts.get(id) ?? {}
    return [id, characters + text.length, Math.max(files, count), (tail + text).slice(-TAIL_CHARACTERS)]
  })
}

/** What an earlier reply has kept with its pause. */
function readPassed(resume: JsonObject | undefined): Map<string, Passed> {
  return new Map(
    listOf(resume?.passed).map((entry) => {
      const [id, characters, files, tail] = listOf(entry)
      return [textOf(id) ?? '', [countOf(characters) ?? 0, countOf(files) ?? 0, textOf(tail) ?? '']]
    }),
  )
}

/** Data are the answer where nothing else is. */
function end(state: A2aState): readonly ChatEvent[] {
  state.isOver = true
  const { data, hasText, hasFile } = state
  const isAnswer = data !== '' && !hasText && !hasFile
  return [
    ...(isAnswer ? textEvents(data, true, state) : []),
    ...(state.isWhole && state.isInterleaved ? [{ type: 'replace', text: textOfAll(state) } as const] : []),
    { type: 'end', reason: 'stop' },
  ]
}

/**
 * The tokens that an agent has counted. The protocol has no place for them: Mastra puts them into the metadata of a task, Google's ADK into
 * those of an event.
 */
function metadata({ metadata }: JsonObject): readonly ChatEvent[] {
  if (!isObject(metadata)) return []
  const { execution, adk_usage_metadata: adk } = metadata
  return isObject(adk) ? usageOf(adk) : usageIn(metadata, objectOf(execution))
}
