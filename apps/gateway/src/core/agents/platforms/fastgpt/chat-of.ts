import type { AgentCall } from '#core/agents/adapter.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'

/** The fields that identify a chat. A key bound to an app overrides `appId`; a team's key requires it. */
export function chatOf(call: {
  readonly platformConversationId: string | undefined
  readonly app: AgentCall['app']
  readonly appId: string
}): { readonly chatId?: string; readonly appId?: string } {
  return omitUndefined({
    chatId: call.platformConversationId,
    appId: call.app?.id ?? (call.appId.trim() || undefined),
  })
}
