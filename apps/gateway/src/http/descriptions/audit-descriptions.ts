/** An event of the audit log, and the filters of events. */
export const AUDIT_DESCRIPTIONS = {
  resource:
    'An event of the audit log: who did what to what, when, and what it was before and after. Each event is chained to the one before by its hash. Chats are in the ledger, and not here.',
  id: 'The number of the event, as an id.',
  n: 'The number of the event. Events are numbered without gaps.',
  format: 'Which form of the event is hashed.',
  at: 'When it was written, by the clock of the database.',
  operation: 'What was done, such as `users.update`.',
  result: 'Whether it was done, was refused or failed.',
  done: 'It was done.',
  refused: 'It was refused, because the caller may not do it.',
  failed: 'It was tried and failed, such as a login with a wrong password.',
  actor:
    'By what right it was done: `key` or `token` for a caller, `anonymous` without a credential, `command` for the command line, `gateway` for the gateway itself, or `database` for a statement of none of these.',
  userId: 'The id of the user who did it, or whose API key did it; null if it was none.',
  keyId: 'The id of the API key; null if it was none.',
  tokenId:
    'The id of the access token (its `jti`), of a login that of the one that it has issued; null if it was none.',
  name: 'The account of the operating system for a command, the role of the database for a statement, or the username of a failed login; null otherwise.',
  address: 'The network address of the client; null if there was none.',
  requestId: 'The id of the request (`X-Request-Id`); null if there was none.',
  target: 'What it was done to, such as `user`; null if it was nothing in particular.',
  targetId: 'The id of that; null if it has none.',
  before: 'The state before, without secrets; null if there was none.',
  after: 'The state after, without secrets; null if there is none.',
  reason: 'Why it was refused or failed, as the stable word of an error; null otherwise.',
  count: 'How many equal events this one stands for; more than 1 only for what strangers can cause at will.',
  hash: 'The hash of the event and of the one before, in hexadecimal digits.',
  ofUser: 'Only what the user with this id did, or an API key of that user.',
  ofKey: 'Only what the API key with this id did.',
  ofOperation: 'Only this operation, such as `users.update`.',
  withResult: 'Only events with this result.',
  toTarget: 'Only what was done to something of this kind, such as `user` or `api_key`.',
  toTargetId: 'Only what was done to the one with this id.',
  ofRequest: 'Only events of the request with this id.',
  fromTime:
    'Only events of this time or later: ISO 8601 with a time zone, or a date, such as `2026-10-01`, which stands for the start of that day in `timezone`.',
  toTime:
    'Only events before this time, in the same form as `from`, which must not be later: a date stands for the start of that day, which is not included.',
  timezoneName:
    'The IANA name of the time zone in which the days of `from` and `to` begin, such as `Asia/Shanghai`; UTC by default.',
} as const
