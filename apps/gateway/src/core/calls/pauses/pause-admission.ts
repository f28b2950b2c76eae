import { fail, Problem } from '#core/base/errors/errors.ts'
import type { FieldPath } from '#core/base/values/field-path.ts'
import type { CallSlot } from '#core/calls/call-slot.ts'
import { remembersNothing } from '#core/calls/conversation/continuation.ts'
import type { UnroutedCall } from '#core/calls/request/call.ts'
import { requireFile } from '#core/calls/request/call.ts'
import type { RequestedAnswer } from '#core/calls/request/chat-request.ts'
import { RequestUrls } from '#core/calls/request/file-urls.ts'
import type { Admission } from '#core/ledger/admission-row.ts'
import type { IssuedFiles } from '#core/uploads/issued-files.ts'
import type { Pauses } from './pauses.ts'
import { type ClaimedPause, resolvePause } from './resolve-pause.ts'

export interface AnsweringDeps {
  readonly pauses: Pick<Pauses, 'find' | 'drop'>
  readonly files: Pick<IssuedFiles, 'isIssued' | 'find'>
}

interface AnsweringCall {
  readonly call: UnroutedCall
  readonly answer: RequestedAnswer | undefined
  readonly slot: Pick<CallSlot, 'route'>
  /** Whether the agent has no conversations, so that a call can only continue a run that waits. */
  readonly keepsNothing: boolean
}

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const NO_PAUSE = '00000000-0000-0000-0000-000000000000'

/** What the admission of one call needs to know of pauses, and what it has claimed. */
export class PauseAdmission {
  /** The pause that the call names; the admission refuses it unless that is open. */
  readonly named: string | undefined
  claimed: ClaimedPause | undefined
  readonly #deps: AnsweringDeps
  readonly #call: AnsweringCall

  constructor(deps: AnsweringDeps, call: AnsweringCall) {
    this.#deps = deps
    this.#call = call
    const { answer } = call
    // An id that no pause can have is one that is not open.
    if (answer !== undefined) this.named = ID.test(answer.pause) ? answer.pause : NO_PAUSE
    else this.named = this.#continued?.callId
  }

  /** Of a call that can only continue a run that waits. */
  get #continued() {
    const { call, keepsNothing } = this.#call
    const { conversation } = call
    return keepsNothing && conversation.kind === 'continued' ? conversation.after.at(-1) : undefined
  }

  async meet(
    pauseId: string,
    ownerId: string,
    conversationId: string,
  ): Promise<Pick<Admission, 'claims' | 'conversation'>> {
    const { call, answer, slot } = this.#call
    const { files, pauses } = this.#deps
    const pause = await pauses.find(pauseId)
    // Another call has claimed it since it was met, or it was deleted.
    if (pause === undefined)
      return this.named === undefined ? { conversation: conversationId } : fail('pause_over')
    const urls = new RequestUrls(files.isIssued)
    const issued = new Map<string, FieldPath>()
    this.claimed = await resolvePause(pauses, {
      call,
      answer,
      pause,
      requireFile(url, field) {
        const file = String(url)
        requireFile({ field, file }, urls)
        if (urls.isIssued(file)) issued.set(file, field)
      },
    })
    const owner = { ownerId, endUser: call.boundTo }
    for (const [url, field] of issued) await files.find(owner, url, field)
    if (this.claimed === undefined) return { conversation: conversationId }
    const { id, conversation, residence } = this.claimed
    if (slot.route === undefined) throw new Error('a pause was met before the slot was taken')
    slot.route.stayAt(residence)
    return { claims: id, conversation }
  }

  /** Runs the admission, whose refusals are those of what the request names. */
  async admitted<Result>(admit: () => Promise<Result>): Promise<Result> {
    try {
      return await admit()
    } catch (error) {
      const continued = this.#continued
      const isOver = error instanceof Problem && error.reason === 'pause_over'
      if (!isOver || continued === undefined || this.claimed !== undefined || this.#call.answer !== undefined)
        throw error
      return fail('previous_response_not_found', {
        field: continued.field,
        detail: remembersNothing(this.#call.call.agent.id),
      })
    }
  }
}
