import fc from 'fast-check'

/** How an answer ends, whatever the words for it. */
export type Ending = 'ordinary' | 'cut' | 'filtered' | 'failed' | 'stopped' | 'error' | 'none'

/** What a server means by a reply, from which a client's reply follows. */
export interface Meaning {
  /** The text, which servers send in pieces. */
  readonly text: string
  readonly reasoning: string
  readonly ending: Ending
  readonly usage: boolean
}

/** The reply on the wire, and whether the platform has a word for this ending at all. */
export interface Spelled {
  readonly frames: readonly string[]
  readonly body?: string | undefined
  /** What the server says of the run when it is asked after the end of its bytes. */
  readonly run?: object | undefined
}

/** Choices of the generator: each use of one takes the next. */
export class Dice {
  readonly #values: readonly number[]
  #next = 0

  constructor(values: readonly number[]) {
    this.#values = values
  }

  [fc.toStringMethod](): string {
    return `new Dice(${JSON.stringify(this.#values)})`
  }

  below(limit: number): number {
    const value = this.#values[this.#next % this.#values.length] ?? 0
    this.#next += 1
    return value % limit
  }

  of<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[this.below(items.length)] ?? items[0]
  }
}

export const dice = fc.array(fc.nat(), { minLength: 8, maxLength: 40 }).map((values) => new Dice(values))

const WORDS: Readonly<
  Record<'ordinary' | 'cut' | 'filtered' | 'failed' | 'stopped', readonly [string, ...string[]]>
> = {
  ordinary: ['stop', 'eos', 'end_turn', 'STOP', 'normal', 'stop_sequence', 'natural', 'finished'],
  cut: ['length', 'max_tokens', 'MAX_TOKENS', 'model_length', 'max-output-tokens'],
  filtered: ['content_filter', 'sensitive', 'SAFETY', 'RECITATION', 'refusal'],
  failed: [
    'error',
    'network_error',
    'abort',
    'engine_failure',
    'upstream timeout',
    'MALFORMED_FUNCTION_CALL',
  ],
  stopped: ['cancelled', 'user_cancel', 'interrupted', 'connection_closed', 'stopped'],
}

/** A word for an ending, in another case and with other separators. */
function wordOf(ending: keyof typeof WORDS, dice: Dice): string {
  const word = dice.of(WORDS[ending])
  return dice.of([word, word.toUpperCase(), word.toLowerCase(), word.replaceAll('_', '-')])
}

/** Cuts a text into pieces anywhere, also within a character. */
function piecesOf(text: string, dice: Dice): readonly string[] {
  const pieces: string[] = []
  for (let from = 0; from < text.length; ) {
    const to = from + 1 + dice.below(4)
    pieces.push(text.slice(from, to))
    from = to
  }
  return pieces
}

/**
 * Messages of which each has all of the text so far; undefined for a text that begins like one in pieces. The first one is more
 * than half of it, since less may be a piece that repeats itself.
 */
function growingOf(text: string, dice: Dice): readonly string[] | undefined {
  const begun = text.slice(0, Math.floor(text.length / 2) + 1)
  const isTelling = /\p{L}/u.test(begun) || new Set(begun.replace(/\s+/g, '')).size > 1
  return isTelling && begun.length < text.length
    ? [begun, text, ...(dice.below(2) === 0 ? [text] : [])]
    : undefined
}

const data = (value: unknown, event?: string): string => {
  const json = typeof value === 'string' ? value : JSON.stringify(value)
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${json}\n\n`
}

/** Writes replies of one platform. */
export type Speller = (meaning: Meaning, dice: Dice) => Spelled

const COUNTS = { prompt: 7, completion: 5, total: 12 }

/** Counts under one of the names that servers use, two of three or all. */
function countsOf(dice: Dice): object {
  const { prompt, completion, total } = COUNTS
  return dice.of<object>([
    { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total },
    { input_tokens: prompt, output_tokens: completion },
    { prompt_tokens: String(prompt), total_tokens: total },
    { completion_tokens: completion, total_tokens: total, prompt_tokens: null },
  ])
}

const ERROR = { message: 'the engine broke', type: 'server_error', code: 500 }

function openai({ text, reasoning, ending, usage }: Meaning, dice: Dice): Spelled {
  const index = dice.of<object>([{ index: 0 }, {}, { index: '0' }])
  const others = dice.of([[], [{ index: 1, delta: { content: 'another choice' } }]])
  const name = dice.of(['reasoning_content', 'reasoning'])
  const content = dice.of<(piece: string) => unknown>([
    (piece) => piece,
    (piece) => [{ type: 'text', text: piece }],
    (piece) => [{ type: 'output_text', text: piece }],
    (piece) => ({ type: 'text', text: piece }),
  ])
  const choice = dice.of<(piece: string) => object>([
    (piece) => ({ delta: { content: content(piece) } }),
    (piece) => ({ delta: { role: 'assistant', content: content(piece) } }),
    (piece) => ({ message: { content: content(piece) } }),
    (piece) => ({ text: piece }),
  ])
  const chunk = (more: object) => data({ choices: [...others, { ...index, ...more, finish_reason: null }] })
  const texts = dice.below(4) === 0 ? growingOf(text, dice) : undefined
  const frames = [
    ...piecesOf(reasoning, dice).map((piece) => chunk({ delta: { [name]: piece } })),
    ...(texts?.map((whole) => chunk({ message: { role: 'assistant', content: content(whole) } })) ??
      piecesOf(text, dice).map((piece) => chunk(choice(piece)))),
  ]
  const counts = usage ? [data({ choices: [], usage: countsOf(dice) })] : []
  const done = data('[DONE]')
  switch (ending) {
    case 'none':
      return { frames }
    case 'error':
      return {
        frames: [
          ...frames,
          dice.of([
            data({ error: ERROR }),
            data({ errors: [ERROR] }),
            data({ error: ERROR.message }),
            data([{ error: ERROR }]),
            data(ERROR, 'error'),
            `error: ${JSON.stringify(ERROR)}\n\n`,
            `${JSON.stringify({ error: ERROR })}\n\n`,
            data({ choices: [{ index: 0, delta: {}, error: ERROR }] }),
            data({ choices: [{ index: 0, delta: { error: ERROR }, finish_reason: 'stop' }] }),
            data({ choices: null, base_resp: { status_code: 1013, status_msg: ERROR.message } }),
            data({ Response: { Error: { Code: 'FailedOperation', Message: ERROR.message } } }),
          ]),
          done,
        ],
      }
    default: {
      const word = wordOf(ending, dice)
      const last = data({ choices: [{ ...index, delta: {}, finish_reason: word }] })
      const noise = dice.of([[], [data(`{"choices":[],"metadata":{"score":NaN,"least":-Infinity}}`)]])
      const frame = { ...index, message: { content: content(text), [name]: reasoning } }
      const whole = JSON.stringify({
        choices: [
          { ...frame, ...(ending === 'ordinary' && dice.below(2) === 0 ? {} : { finish_reason: word }) },
        ],
        ...dice.of<object>([{}, { error: null }, { error: { message: '', type: '', code: null } }]),
        ...(usage && { usage: countsOf(dice) }),
      })
      return {
        frames: [...frames, last, ...counts, ...noise, ...(dice.below(2) === 0 ? [done] : [])],
        body: whole.replace(/}$/, ',"score":NaN}'),
      }
    }
  }
}

function fastgpt({ text, reasoning, ending, usage }: Meaning, dice: Dice): Spelled {
  const answer = (delta: object, finish_reason: string | null = null) =>
    data({ choices: [{ index: 0, delta, finish_reason }] }, 'answer')
  const frames = [
    ...piecesOf(reasoning, dice).map((piece) => answer({ reasoning_content: piece })),
    ...piecesOf(text, dice).map((piece) => answer({ role: 'assistant', content: piece })),
  ]
  if (ending === 'none') return { frames }
  if (ending === 'error')
    return { frames: [...frames, data({ message: 'boom' }, dice.of(['error', 'answer']))] }
  const word = wordOf(ending, dice)
  const tokens = usage ? { inputTokens: COUNTS.prompt, outputTokens: COUNTS.completion } : {}
  const node = dice.of<object>([
    { moduleType: 'chatNode', finishReason: word, ...tokens },
    { moduleType: 'appModule', pluginDetail: [{ moduleType: 'chatNode', finishReason: word, ...tokens }] },
  ])
  const other = { moduleType: 'httpRequest468', errorText: 'a webhook failed' }
  const nodes = dice.of([
    [data(node, 'flowNodeResponse'), data(other, 'flowNodeResponse')],
    [data([other, node], 'flowResponses')],
  ])
  const stop = [answer({ content: null }, 'stop'), data('[DONE]', 'answer')]
  return { frames: [...frames, ...(dice.below(2) === 0 ? [...nodes, ...stop] : [...stop, ...nodes])] }
}

function dify({ text, reasoning, ending, usage }: Meaning, dice: Dice): Spelled {
  const frames = [
    ...piecesOf(reasoning, dice).map((piece) =>
      data({ event: 'reasoning_chunk', data: { reasoning: piece } }),
    ),
    ...piecesOf(text, dice).map((piece) =>
      data({ event: 'message', answer: piece, from_variable_selector: dice.of([null, ['llm1', 'text']]) }),
    ),
  ]
  const end = data({
    event: 'message_end',
    metadata: { ...(usage && { usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 } }) },
  })
  switch (ending) {
    case 'none':
      return { frames }
    case 'error':
      return {
        frames: [
          ...frames,
          data({ event: 'error', code: 'internal_server_error', status: 500, message: 'x' }),
        ],
      }
    case 'stopped':
    case 'failed': {
      const finished = data({ event: 'workflow_finished', data: { status: ending } })
      const node = data({
        event: 'node_finished',
        data: { node_id: 'llm1', node_type: 'llm', status: 'failed', outputs: null },
      })
      const shapes: [string[], ...string[][]] = [[finished, end], [end, finished], [finished]]
      if (ending === 'failed') shapes.push([node, end], [end, node])
      return { frames: [...frames, ...dice.of(shapes)] }
    }
    default: {
      const done = dice.of([[], [data('[DONE]')]])
      const outputs = { finish_reason: wordOf(ending, dice) }
      const node = data({ event: 'node_finished', data: { node_id: 'llm1', node_type: 'llm', outputs } })
      const finished = data({
        event: 'workflow_finished',
        data: { status: 'succeeded', outputs: { answer: text } },
      })
      const isInOutputs = ending === 'ordinary' && reasoning === '' && dice.below(4) === 0
      return {
        frames: [
          ...(isInOutputs ? [] : frames),
          ...dice.of([
            [node, finished, end],
            [node, end, finished],
            [end, node, finished],
          ]),
          ...done,
        ],
      }
    }
  }
}

function coze({ text, reasoning, ending, usage }: Meaning, dice: Dice): Spelled {
  const message = {
    id: 'm1',
    conversation_id: 'c1',
    chat_id: 'r1',
    role: 'assistant',
    type: 'answer',
    content_type: 'text',
  }
  const delta = (more: object) => data({ ...message, ...more }, 'conversation.message.delta')
  const frames = [
    ...piecesOf(reasoning, dice).map((piece) => delta({ content: '', reasoning_content: piece })),
    ...piecesOf(text, dice).map((piece) => delta({ content: piece })),
  ]
  const chat = (status: string, named = status) =>
    data(
      {
        id: 'r1',
        conversation_id: 'c1',
        status,
        ...(usage && { usage: { input_count: '7', token_count: 12 } }),
      },
      `conversation.chat.${named}`,
    )
  switch (ending) {
    case 'none':
      return { frames }
    case 'error':
      return { frames: [...frames, data({ code: 5000, msg: 'x' }, 'error')] }
    case 'stopped': {
      const status = dice.of(['canceled', 'cancelled', 'interrupted'])
      return { frames: [...frames, chat(status, dice.of([status, 'completed'])), data('"[DONE]"', 'done')] }
    }
    case 'failed': {
      const status = dice.of(['failed', 'expired', 'aborted'])
      return { frames: [...frames, chat(status, dice.of([status, 'completed'])), data('"[DONE]"', 'done')] }
    }
    default: {
      const whole = data({ ...message, content: text }, 'conversation.message.completed')
      return { frames: [...frames, whole, chat('completed'), data('"[DONE]"', 'done')] }
    }
  }
}

function hiagent({ text, reasoning, ending, usage }: Meaning, dice: Dice): Spelled {
  const frames = [
    ...piecesOf(reasoning, dice).map((piece) => data({ event: 'think_message', answer: piece })),
    ...piecesOf(text, dice).map((piece) => data({ event: 'message', answer: piece })),
  ]
  const cost = usage ? [data({ event: 'message_cost', input_tokens: 7, output_tokens: 5 })] : []
  if (ending === 'none') return { frames }
  if (ending === 'error') {
    const failures = [
      { event: 'message_failed', error: 'x' },
      { event: 'agent_error', error_msg: 'x' },
      { code: 500, message: 'x' },
    ] as const
    return { frames: [...frames, data(dice.of<object>(failures))] }
  }
  const end = data({ event: 'message_end', finish_reason: wordOf(ending, dice) })
  return {
    frames: [
      ...frames,
      ...dice.of([
        [...cost, end],
        [end, ...cost],
      ]),
    ],
  }
}

function a2a({ text, ending, usage }: Meaning, dice: Dice): Spelled {
  const ids = { taskId: 't1', contextId: 'c1' }
  const isFormer = dice.below(2) === 0
  const wrap = dice.of<(result: object) => object>([
    (result) => result,
    (result) => ({ jsonrpc: '2.0', id: 1, result }),
  ])
  const part = (piece: string) => (isFormer ? { kind: 'text', text: piece } : { text: piece })
  const state = (word: string) => (isFormer ? word : `TASK_STATE_${word.replace('-', '_').toUpperCase()}`)
  const frame = (kind: 'status' | 'artifact', update: object) =>
    data(
      wrap(
        isFormer
          ? { kind: `${kind}-update`, ...ids, ...update }
          : { [`${kind}Update`]: { ...ids, ...update } },
      ),
    )
  const task = (word: string, more: object = {}) => {
    const whole = { id: 't1', contextId: 'c1', status: { state: state(word) }, ...more }
    return wrap(isFormer ? { kind: 'task', ...whole } : { task: whole })
  }
  const said = (words: string) => ({ message: { messageId: 'm2', role: 'agent', parts: [part(words)] } })
  const status = (word: string, words?: string, more: object = {}) =>
    frame('status', { status: { state: state(word), ...(words !== undefined && said(words)) }, ...more })
  const artifact = (words: string) => ({ artifactId: 'a1', parts: [part(words)] })
  const begun = [data(task('submitted')), status('working', dice.of([undefined, 'I look']))]
  // As pieces, or each time the whole of it.
  const texts =
    dice.below(3) === 0
      ? (growingOf(text, dice) ?? [text]).map((words) => frame('artifact', { artifact: artifact(words) }))
      : piecesOf(text, dice).map((piece, index) =>
          frame('artifact', { artifact: artifact(piece), append: index > 0 }),
        )
  const run = task('working')
  if (ending === 'none') return { frames: [...begun, ...texts], run }
  if (ending === 'error')
    return { frames: [...begun, ...texts, data({ error: { code: -32603, message: 'x' } })], run }
  if (ending === 'failed') return { frames: [...begun, ...texts, status('failed', 'x')], run }
  if (ending === 'stopped') return { frames: [...begun, ...texts, status('canceled')], run }
  const counts = { usage: { inputTokens: COUNTS.prompt, outputTokens: COUNTS.completion } }
  const counted = usage ? { metadata: counts } : {}
  const artifacts = [artifact(text)]
  return {
    frames: dice.of([
      [...begun, ...texts, status('completed', undefined, counted)],
      [...begun, ...texts, data(task('completed', { artifacts, ...counted }))],
      [...begun, status('completed', text, counted)],
    ]),
    body: JSON.stringify(task('completed', { artifacts, ...counted })),
    run,
  }
}

function langgraph({ text, reasoning, ending, usage }: Meaning, dice: Dice): Spelled {
  // The server in JavaScript, and the one in Python.
  const type = dice.of(['ai', 'AIMessageChunk'])
  const path = dice.of(['', '|agent:t1', '|outer:t1|inner:t2'])
  const piece = (more: object) =>
    data([{ id: 'm1', type, content: '', ...more }, { langgraph_node: 'agent' }], `messages${path}`)
  const content = dice.of<(words: string) => unknown>([
    (words) => words,
    (words) => [{ type: 'text', text: words }],
  ])
  const frames = [
    data({ run_id: 'r1', attempt: 1 }, 'metadata'),
    ...piecesOf(reasoning, dice).map((words) => piece({ additional_kwargs: { reasoning_content: words } })),
    ...piecesOf(text, dice).map((words) => piece({ content: content(words) })),
  ]
  const run = (status: string) => ({ run_id: 'r1', status })
  if (ending === 'none') return { frames, run: run('running') }
  if (ending === 'error' || ending === 'failed') {
    const error = data({ error: 'Error', message: 'x' }, dice.of(['error', `error${path}`]))
    return { frames: [...frames, ...dice.of([[error], []])], run: run('error') }
  }
  if (ending === 'stopped') {
    const error = data({ error: 'UserInterrupt', message: 'User interrupted the run' }, 'error')
    return { frames: [...frames, ...dice.of([[error], []])], run: run('interrupted') }
  }
  const whole = { id: 'm1', type: 'ai', content: content(text) }
  // The state of the thread, where the stream ends without what the node has changed.
  const values = { messages: [{ id: 'm0', type: 'human', content: 'Hello' }, whole] }
  const tokens = { input_tokens: COUNTS.prompt, output_tokens: COUNTS.completion, total_tokens: COUNTS.total }
  const counted = usage ? { usage_metadata: tokens } : {}
  const last = piece({ response_metadata: { stop_reason: wordOf(ending, dice) }, ...counted })
  const update = data({ agent: { messages: dice.of<unknown>([whole, [whole]]) } }, 'updates')
  return { frames: [...frames, last, ...dice.of([[update], []])], run: { ...run('success'), values } }
}

export const SPELLERS: Readonly<Record<string, Speller>> = {
  openai,
  fastgpt,
  dify,
  coze,
  hiagent,
  a2a,
  langgraph,
}

/** What clients can get of a meaning where a platform has words for less. */
export function sayable(platform: string, meaning: Meaning): Meaning {
  return platform === 'a2a' ? { ...meaning, reasoning: '' } : meaning
}

/** The platforms that have no word for an answer that was cut or filtered. */
const WITHOUT_FINISH_WORDS = ['coze', 'a2a']

/** The finish reason that clients get; undefined for an ending that is a failure. */
export function finishOf(platform: string, ending: Ending): string | undefined {
  switch (ending) {
    case 'ordinary':
      return 'stop'
    case 'cut':
      return WITHOUT_FINISH_WORDS.includes(platform) ? 'stop' : 'length'
    case 'filtered':
      return WITHOUT_FINISH_WORDS.includes(platform) ? 'stop' : 'content_filter'
    default:
      return undefined
  }
}
