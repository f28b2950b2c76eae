import { OpeningFailed } from '#core/agents/upstream/opening-failed.ts'
import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { UpstreamError } from '#core/agents/upstream/upstream-error.ts'
import {
  type AdmittedChat,
  agentCallOf,
  type EnterDeps,
} from '#core/calls/conversation/enter-conversation.ts'
import type { UnroutedCall } from '#core/calls/request/call.ts'
import type { ClaimedPause } from './resolve-pause.ts'

const WITHIN_MS = 5_000

export interface StopPausedDeps extends Pick<EnterDeps, 'derivedIds'> {
  readonly upstream: Pick<Upstream, 'help' | 'cards'>
}

/**
 * Stops a run that waits, if its platform can. A run that is not stopped waits there until it expires, without an answer, also where
 * the platform cannot be asked how to stop it.
 */
export async function stopPaused(
  deps: StopPausedDeps,
  { kept, residence }: ClaimedPause,
  chat: AdmittedChat<UnroutedCall>,
): Promise<void> {
  const { deployments } = chat.call.agent
  const { agent } = deployments.find(({ id }) => id === residence.deployment) ?? deployments[0] ?? {}
  if (agent === undefined) return
  try {
    const card = await deps.upstream.cards.of(agent, WITHIN_MS)
    const { adapter } = agent
    const { runId, messageId, platformConversationId } = kept
    const app = chat.call.app && agent.apps.find(({ id }) => id === chat.call.app?.id)
    const call = {
      ...agentCallOf(deps, { ...chat, call: { ...chat.call, agent, app, card } }),
      platformConversationId,
    }
    const state = Object.assign(adapter.start(call), {
      ...(runId !== undefined && { runId }),
      ...(messageId !== undefined && { messageId }),
    })
    const stop = adapter.stop?.(call, state)
    if (stop === undefined) return
    await deps.upstream.help(agent, stop, WITHIN_MS)
  } catch (error) {
    // The run goes on waiting.
    if (!(error instanceof UpstreamError || error instanceof OpeningFailed)) throw error
  }
}
