/** An API key, its limits and its counters. */
export const API_KEY_DESCRIPTIONS = {
  newKey: 'A new API key.',
  changes: 'The fields to change. A field that is absent keeps its value.',
  name: 'A label for the key, such as `support bot`.',
  description: 'What the key is for.',
  keyPrefix: 'The first 12 characters of the key, by which people can recognise it.',
  createdAt: 'When the key was created.',
  expiresAt: 'When the key expires.',
  newExpiry:
    'A key that has expired becomes active again by it, if its owner may have another active key; a revoked one stays revoked.',
  revokedAt: 'When the key was revoked; null if it was not.',
  lastUsedAt: 'When the key was last used; null if never.',
  permissions: 'What the key may be used for.',
  isActive: 'False once the key is revoked or has expired.',
  creatorId: 'The id of the user who created the key.',
  ownerId: 'The id of the user whom the key belongs to and whose quota its calls count towards.',
  ofOwner: 'Only the keys that belong to the user with this id.',
  allowedAgents:
    'The agents that the key may call, each as `agent` or, for one app alone, `agent/app`. Null allows all agents.',
  limits:
    "The key's own rate limits. Where one is null, the gateway's limit applies. Only administrators may set one above the gateway's, up to `limits.maxPerKey` of the configuration.",
  chatPerMinute: 'The chats that the key may start in a minute.',
  uploadPerMinute: 'The uploads that the key may make in a minute.',
  usage: "The key's call counters.",
  totalCalls: 'The calls since the key was created or this counter was reset.',
  callsToday: 'The calls since midnight UTC.',
  callsThisMonth: 'The calls since the first of the month, UTC.',
  rateLimits:
    'The rate limits that apply to this key, converted to a minute where the gateway counts in windows of another length.',
  quota: 'The quota of the owner, which all its keys share.',
} as const
