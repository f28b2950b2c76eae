/** An agent in the list of agents. */
export const AGENT_DESCRIPTIONS = {
  resource: 'An agent that can be called.',
  name: 'The name to show to people.',
  platform: 'The platform on which the agent runs, such as `dify`.',
  description: 'What the agent does, as its operator describes it.',
  status:
    'Whether the agent can serve calls, as probes and calls of the last seconds showed. `degraded` means that a part of it cannot, or that a platform refuses the credentials of the gateway; `unavailable` that no process of the gateway has a way to it.',
  statusSince:
    'Since when the agent is not `available`, as far as calls and probes have shown it; null if it is, or if that is unknown.',
  statusReason:
    'Why it is not `available`, as the stable word of an error, such as `agent_unreachable`; null if it is, or if that is unknown.',
  features: 'What the agent supports.',
  stream: 'Replies can be streamed.',
  detail: "The platform's progress can be requested with `detail`.",
  files: 'The agent accepts files.',
  conversation: 'The agent can continue a conversation.',
  usage: 'The platform reports tokens.',
  stop: 'A call can be stopped on the platform before it ends.',
  conversations: 'What can be done with the conversations of the agent.',
  history: 'Their messages can be read.',
  rename: 'They can be given names.',
  delete: 'They can be deleted, at the platform as well if it keeps them.',
  feedback: 'Answers can be rated.',
  apps: "The agent's apps, as far as they are configured.",
  sandbox: 'True for an emulator that is part of the gateway, false for a real platform.',
} as const
