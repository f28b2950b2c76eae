import type { AgentCatalog } from '#core/agents/catalog.ts'
import { atMost } from '#core/base/async/at-most.ts'
import { InFlight } from '#core/base/async/in-flight.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { Problem } from '#core/base/errors/errors.ts'
import type { CallObserver } from '#core/calls/call-events.ts'
import { AMPLE_SPACE, DISK_FULL, type DiskSpace } from '#core/database/disk/disk-space.ts'
import { OwnerTurns, type WaitingPlaces } from '#core/limits/sharing/owner-turns.ts'
import type { Principal } from '#core/requests/principal.ts'
import {
  agentOfUpload,
  requireUploadKey,
  type UploadPart,
  type UploadRequest,
} from '#core/uploads/upload-request.ts'
import type { Upload } from '#generated/prisma/client.ts'
import { type ReceiveDeps, ReceivedUpload } from './receive-upload.ts'

/** Receives files. */
export interface UploadReceiver {
  /**
   * Checks what can be checked before the body arrives: the key's permission and the agent.
   *
   * @throws Problem `api_key_required`, `permission_denied`, `unknown_agent`, `agent_denied`, `draining`, `rate_limited`,
   * `unavailable`
   */
  requireUploader(caller: Principal, agent: string | undefined): void
  /**
   * Receives a file and stores it. The body is not read before it is the turn of the owner. The upload is counted at the
   * first byte of the file.
   *
   * @param signal - aborts when the client is gone
   * @param observer - follows the upload until it is admitted
   * @throws Problem what {@link UploadReceiver.requireUploader} and admission throw, `rate_limited` if the owner's turn does
   * not come in time, `invalid_request`, `body_too_large`, `file_type_not_accepted`, `upload_space_used_up`; `unavailable`
   * if the storage or the database fails
   */
  receive(
    caller: Principal,
    request: UploadRequest,
    parts: AsyncIterator<UploadPart>,
    signal: AbortSignal,
    observer?: CallObserver,
  ): Promise<Upload>
}

/** What the process does with uploads in progress. */
export interface UploadsInProgress {
  /** Refuses new uploads, waits for the running ones until the timeout, and then ends those that are left. */
  drain(timeoutMs: number): Promise<void>
}

export interface UploadReceiverDeps extends ReceiveDeps {
  readonly catalog: Pick<AgentCatalog, 'current'>
  /** Defaults to {@link AMPLE_SPACE}. */
  readonly space?: Pick<DiskSpace, 'isLow'>
  readonly turns: UploadTurns
}

/** How many uploads a process receives at once. Others wait unread, and owners take turns. */
export interface UploadTurns {
  readonly inFlightMax: number
  readonly inFlightPerOwnerMax: number
  readonly waitMs: number
  readonly places?: WaitingPlaces | undefined
}

export function createUploadReceiver(deps: UploadReceiverDeps): UploadReceiver & UploadsInProgress {
  const { catalog, space = AMPLE_SPACE } = deps
  const turns = turnsOf(deps.turns)
  const running = new InFlight<{ received: ReceivedUpload; ended: Promise<unknown> }>()
  let isDraining = false

  function requireUploader(caller: Principal, agent: string | undefined): string {
    const agentId = agentOfUpload(catalog.current(), requireUploadKey(caller), agent)
    if (isDraining) throw new Problem('draining')
    if (space.isLow) throw new Problem('unavailable', DISK_FULL)
    turns.requirePlace({ owner: caller.userId })
    return agentId
  }

  return {
    requireUploader,
    async receive(caller, request, parts, signal, observer) {
      const agent = requireUploader(caller, request.agent)
      const endTurn = await turns.take({ owner: caller.userId, signal })
      const received = new ReceivedUpload(deps, { ...request, agent, boundTo: caller.endUser }, observer)
      const gone = () => received.end('client_gone')
      const receiving = markRejectionHandled(received.receive(parts))
      const remove = running.add({ received, ended: receiving.catch(() => undefined) })
      try {
        if (signal.aborted) gone()
        else signal.addEventListener('abort', gone, { once: true })
        return await receiving
      } finally {
        signal.removeEventListener('abort', gone)
        remove()
        endTurn()
      }
    },
    async drain(timeoutMs) {
      isDraining = true
      turns.close('draining')
      const all = markRejectionHandled(Promise.all(running.all().map(({ ended }) => ended)))
      await atMost(timeoutMs, all)
      for (const { received } of running.all()) received.end('drained')
      await all
    },
  }
}

function turnsOf({ inFlightMax, inFlightPerOwnerMax, waitMs, places }: UploadTurns): OwnerTurns {
  return new OwnerTurns({
    atOnce: inFlightMax,
    perOwner: inFlightPerOwnerMax,
    waitMs,
    what: 'uploads',
    ...(places !== undefined && { places }),
  })
}
