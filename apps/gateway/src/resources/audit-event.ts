import { ACTORS } from '#core/audit/actor.ts'
import type { AuditInput } from '#core/reports/audit-log/audit-query.ts'
import { AUDIT_RESULTS } from '#core/reports/audit-log/audit-query.ts'
import type { AuditEvent } from '#core/reports/audit-log/audit-rows.ts'
import {
  byId,
  byText,
  byUser,
  byWord,
  type ConditionsOf,
  type ListDefinition,
  rangeOf,
} from './define/define-list.ts'
import { defineResource } from './define/define-resource.ts'
import { id, integer, json, key, large, nullable, text, time, user, words } from './define/fields.ts'
import { open } from './define/vocabulary.ts'

const AUDIT_RESULT = open(
  'AuditResult',
  AUDIT_RESULTS,
  'What came of the operation that an event of the audit log records.',
  {
    done: 'It was done.',
    refused: 'It was refused, because the caller may not do it.',
    failed: 'It was tried and failed, such as a login with a wrong password.',
  },
)

export const AUDIT_EVENT = defineResource<AuditEvent>()(
  'AuditEvent',
  'An event of the audit log: who did what to what, when, and what it was before and after. Each event is chained to the one before by its hash. Chats are in the ledger, and not here.',
  {
    n: large('The number of the event. Events are numbered without gaps.', 1),
    format: integer('Which form of the event is hashed.'),
    at: time('When it was written, by the clock of the database.'),
    operation: text('What was done, such as `users.update`.'),
    result: words(AUDIT_RESULT, 'Whether it was done, was refused or failed.'),
    actor: text(
      'By what right it was done: `key` or `token` for a caller, `anonymous` without a credential, `command` for the command line, `gateway` for the gateway itself, or `database` for a statement of none of these.',
      ACTORS,
    ),
    userId: nullable(
      user(
        'The id of the user who did it, or whose API key did it; null if it was none.',
        'The user who did it, or whose API key did it; null if it was none.',
      ),
    ),
    keyId: nullable(key('The id of the API key; null if it was none.', 'The API key; null if it was none.')),
    tokenId: nullable(
      id(
        'The id of the access token (its `jti`), of a login that of the one that it has issued; null if it was none.',
      ),
    ),
    name: nullable(
      text(
        'The account of the operating system for a command, the first 12 characters of the secret that was presented for a key, the role of the database for a statement, or the username of a failed login; null otherwise.',
      ),
    ),
    address: nullable(text('The network address of the client; null if there was none.')),
    requestId: nullable(text('The id of the request (`X-Request-Id`); null if there was none.')),
    target: nullable(text('What it was done to, such as `user`; null if it was nothing in particular.')),
    targetId: nullable(text('The id of that; null if it has none.')),
    before: nullable(json('The state before, without secrets; null if there was none.')),
    after: nullable(json('The state after, without secrets; null if there is none.')),
    reason: nullable(text('Why it was refused or failed, as the stable word of an error; null otherwise.')),
    count: integer(
      'How many equal events this one stands for; more than 1 only for what strangers can cause at will.',
      1,
    ),
    hash: text('The hash of the event and of the one before, in hexadecimal digits.'),
  },
  {
    n: 41,
    format: 1,
    at: '2026-11-20T08:30:00.123456Z',
    operation: 'users.update',
    result: 'done',
    actor: 'token',
    user_id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10',
    key_id: null,
    token_id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a12',
    name: null,
    address: '192.0.2.7',
    request_id: 'ticket-1',
    target: 'user',
    target_id: '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a11',
    before: { role: 'user' },
    after: { role: 'premium' },
    reason: null,
    count: 1,
    hash: 'd2a84f4b8b650937ec8f73cd8be2c74add5a911ba64df27458ed8229da804a26',
  },
)

/** An event with its states as the texts that were hashed, for files. */
export function storedAuditRecord(event: AuditEvent) {
  return { ...AUDIT_EVENT.record(event), before: event.before, after: event.after }
}

export const AUDIT_EVENTS = {
  of: AUDIT_EVENT,
  path: 'audit',
  operationId: 'listAuditEvents',
  summary: 'List the events of the audit log',
  description:
    'Returns the events of the audit log, newest first. Only administrators may read it. The CSV format returns all events at once, without pages, and has `before` and `after` as the texts that were hashed.',
  conditions: {
    userId: byUser('Only what the user with this id did, or an API key of that user.'),
    keyId: byId('Only what the API key with this id did.'),
    operation: byText('Only this operation, such as `users.update`.', 256),
    result: byWord(AUDIT_RESULT, 'Only events with this result.'),
    target: byText('Only what was done to something of this kind, such as `user` or `api_key`.', 256),
    targetId: byText('Only what was done to the one with this id.', 256),
    requestId: byText('Only events of the request with this id.', 128),
  } satisfies ConditionsOf<AuditInput>,
  range: rangeOf('events'),
} satisfies ListDefinition<AuditEvent>
