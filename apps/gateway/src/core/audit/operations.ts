/**
 * What events are written of. A refused operation is not here: its event has the name of its route or its field of the GraphQL
 * schema. The console has a text for each, and docs/audit.md lists them.
 */
export const AUDIT_OPERATIONS = [
  'users.create',
  'users.update',
  'users.setPassword',
  'users.changeOwnPassword',
  'keys.create',
  'keys.update',
  'api_keys.extend_expired',
  'keys.pause',
  'keys.resume',
  'keys.rotate',
  'keys.endPreviousSecret',
  'keys.resetUsage',
  'keys.revoke',
  'keys.sweep',
  'keys.revokeUnused',
  'login',
  'logout',
  'authenticate',
  'signingKeys.create',
  'signingKeys.rotate',
  'secrets.rewrite',
  'uploads.remove',
  'uploads.sweep',
  'calls.stop',
  'replies.remove',
  'conversations.read',
  'conversations.rename',
  'conversations.remove',
  'endUsers.erase',
  'configuration.load',
  'configuration.reload',
  'export',
  'database.import',
  'audit.cut',
] as const

export type AuditOperation = (typeof AUDIT_OPERATIONS)[number]

/** What it can be done to. */
export const AUDIT_TARGETS = [
  'user',
  'api_key',
  'session',
  'signing_key',
  'upload',
  'call',
  'conversation',
  'end_user',
  'configuration',
  'export',
  'audit_event',
] as const
export type AuditTarget = (typeof AUDIT_TARGETS)[number]
