/** What filters of calls call the ids of objects. */
interface NamedIds {
  readonly agentId?: string | undefined
  readonly appId?: string | undefined
  readonly conversationId?: string | undefined
}

/** A filter of calls by core's names, which are those of REST. */
export function conditionsOf<Rest>({ agentId, appId, conversationId, ...rest }: NamedIds & Rest) {
  return {
    ...rest,
    agent: agentId,
    app: appId,
    conversation: conversationId,
  }
}
