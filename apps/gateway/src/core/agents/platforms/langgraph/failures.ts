import type { HeaderReader } from '#core/agents/adapter.ts'
import type { Failure } from '#core/agents/events.ts'
import { EarlyRefusals } from '#core/agents/translate/early-refusals.ts'
import { failureOf, isPage, reasonOfStatus, refusalReader } from '#core/agents/translate/failure.ts'
import { messageIn } from '#core/agents/translate/refusals/error-words.ts'
import { reasonInWords } from '#core/agents/translate/refusals/whose-fault.ts'
import { textOf } from '#core/base/values/json.ts'

/** The server makes no run then. */
const EARLY = new EarlyRefusals([
  { status: 401 },
  { status: 422, code: 'busy' },
  { status: 400, code: 'over' },
])

/** Of a thread that has a run, in the text of the server; the same status has other reasons in its lists of mistakes. */
const BUSY = /already running/i
/** Of an answer to a thread that waits for none, as Aegra says it. */
const OVER = /^cannot resume\b/i
/** Of an assistant that does not exist, which the operator has named. */
const NO_ASSISTANT = /\b(?:invalid assistant|(?:assistant|graph)\b.{0,200}\bnot found)\b/is

export function refusal(status: number, body: unknown, header: HeaderReader): Failure {
  const said = messageIn(body) ?? ''
  if (status === 409 || (status === 422 && BUSY.test(said))) {
    const turn = EARLY.turnOf({ status, code: 'busy' })
    return failureOf('conversation_busy', { status, code: 'busy', turn })
  }
  if (status === 400 && OVER.test(said)) {
    return failureOf('pause_over', { status, code: 'over', turn: EARLY.turnOf({ status, code: 'over' }) })
  }
  if (NO_ASSISTANT.test(said)) return failureOf('agent_misconfigured', { status })
  const failure = readRefusal(status, body, header)
  const turn = isPage(body) ? undefined : EARLY.turnOf({ status })
  return turn === undefined ? failure : { ...failure, turn }
}

/** Whether a run may have been refused because its thread does not exist, for which servers have words of their own or those of a busy thread. */
export function mayLackThread(status: number, body: unknown, { reason }: Failure): boolean {
  if (status === 422) return reason === 'conversation_busy'
  return status === 404 && (reason !== 'agent_misconfigured' || /\bthread\b/i.test(messageIn(body) ?? ''))
}

const readRefusal = refusalReader((error, { status, header }) => {
  const reason = reasonInWords(error, status) ?? reasonOfStatus(status)
  const code = error.code ?? textOf(error.error)
  return failureOf(reason, { status, header, error, code, message: messageIn(error) })
})
