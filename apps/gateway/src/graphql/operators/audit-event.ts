import { AUDIT_RESULTS, requireEventNumber } from '#core/reports/audit-log/audit-query.ts'
import { type AuditEvent, stateOf } from '#core/reports/audit-log/audit-rows.ts'
import { AUDIT_DESCRIPTIONS } from '#http/descriptions/audit-descriptions.ts'
import { showLimit } from '#http/response/limit-headers.ts'
import { builder } from '../builder.ts'
import { callerOf } from '../context.ts'
import { knownOrOther, openEnumOf } from '../enum-of.ts'
import { placeInFilter } from '../mistakes/input-places.ts'
import { cursorConnection } from '../reads/ordered-connection.ts'
import { relatedQuery } from '../reads/related-query.ts'
import { BOUNDED_COUNT } from '../reads/total-count.ts'
import { withoutNulls } from '../reads/without-nulls.ts'
import { HAS_OWN_LIMIT } from '../serving/read-turns-plugin.ts'
import { ApiKey } from '../types/api-key.ts'
import { User } from '../types/user.ts'

const AuditResult = openEnumOf('AuditResult', AUDIT_RESULTS, {
  description: 'What came of the operation that an event of the audit log records.',
  values: AUDIT_DESCRIPTIONS,
})

const AuditEventType = builder.objectRef<AuditEvent>('AuditEvent').implement({
  description: AUDIT_DESCRIPTIONS.resource,
  fields: (t) => ({
    id: t.id({ description: AUDIT_DESCRIPTIONS.id, resolve: ({ n }) => String(n) }),
    n: t.expose('n', { type: 'SafeInt', description: AUDIT_DESCRIPTIONS.n }),
    at: t.field({
      type: 'DateTime',
      description: AUDIT_DESCRIPTIONS.at,
      resolve: ({ at }) => new Date(at),
    }),
    operation: t.exposeString('operation', { description: AUDIT_DESCRIPTIONS.operation }),
    result: t.field({
      type: AuditResult,
      description: AUDIT_DESCRIPTIONS.result,
      resolve: ({ result }) => knownOrOther(AUDIT_RESULTS, result),
    }),
    actor: t.exposeString('actor', { description: AUDIT_DESCRIPTIONS.actor }),
    userId: t.exposeID('userId', { nullable: true, description: AUDIT_DESCRIPTIONS.userId }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'The user who did it, or whose API key did it; null if it was none.',
      resolve: ({ userId }, _args, context, info) =>
        userId === null ? null : context.loaders.user(userId, relatedQuery(context, info)),
    }),
    keyId: t.exposeID('keyId', { nullable: true, description: AUDIT_DESCRIPTIONS.keyId }),
    key: t.field({
      type: ApiKey,
      nullable: true,
      description: 'The API key; null if it was none.',
      resolve: ({ keyId }, _args, context, info) =>
        keyId === null ? null : context.loaders.key(keyId, relatedQuery(context, info)),
    }),
    tokenId: t.exposeID('tokenId', { nullable: true, description: AUDIT_DESCRIPTIONS.tokenId }),
    name: t.exposeString('name', { nullable: true, description: AUDIT_DESCRIPTIONS.name }),
    address: t.exposeString('address', { nullable: true, description: AUDIT_DESCRIPTIONS.address }),
    requestId: t.exposeString('requestId', { nullable: true, description: AUDIT_DESCRIPTIONS.requestId }),
    target: t.exposeString('target', { nullable: true, description: AUDIT_DESCRIPTIONS.target }),
    targetId: t.exposeString('targetId', { nullable: true, description: AUDIT_DESCRIPTIONS.targetId }),
    before: t.field({
      type: 'JSONObject',
      nullable: true,
      description: AUDIT_DESCRIPTIONS.before,
      resolve: ({ before }) => stateOf(before),
    }),
    after: t.field({
      type: 'JSONObject',
      nullable: true,
      description: AUDIT_DESCRIPTIONS.after,
      resolve: ({ after }) => stateOf(after),
    }),
    reason: t.exposeString('reason', { nullable: true, description: AUDIT_DESCRIPTIONS.reason }),
    count: t.exposeInt('count', { description: AUDIT_DESCRIPTIONS.count }),
    hash: t.exposeString('hash', { description: AUDIT_DESCRIPTIONS.hash }),
  }),
})

const AuditFilter = builder.inputType('AuditFilter', {
  description: 'Which events of the audit log to list. All conditions must hold.',
  fields: (t) => ({
    from: t.field({ type: 'DateTime', description: AUDIT_DESCRIPTIONS.fromTime }),
    to: t.field({ type: 'DateTime', description: AUDIT_DESCRIPTIONS.toTime }),
    userId: t.id({ description: AUDIT_DESCRIPTIONS.ofUser }),
    keyId: t.id({ description: AUDIT_DESCRIPTIONS.ofKey }),
    operation: t.string({ description: AUDIT_DESCRIPTIONS.ofOperation }),
    result: t.field({ type: AuditResult, description: AUDIT_DESCRIPTIONS.withResult }),
    target: t.string({ description: AUDIT_DESCRIPTIONS.toTarget }),
    targetId: t.string({ description: AUDIT_DESCRIPTIONS.toTargetId }),
    requestId: t.string({ description: AUDIT_DESCRIPTIONS.ofRequest }),
  }),
})

const AuditEventConnection = builder.connectionObject(
  {
    type: AuditEventType,
    name: 'AuditEventConnection',
    description: 'A page of the audit log.',
    fields: (t) => ({ totalCount: t.int(BOUNDED_COUNT) }),
  },
  { name: 'AuditEventEdge', description: 'An event of the audit log and its place in the list.' },
)

const FOR_ADMINS =
  'Takes an access token of an administrator, or an API key of one with the permission `ADMIN`.'

builder.queryFields((t) => ({
  auditEvents: t.connection(
    {
      type: AuditEventType,
      extensions: HAS_OWN_LIMIT,
      nullable: true,
      description: `Lists the events of the audit log, newest first; pages go forwards only. ${FOR_ADMINS}`,
      args: {
        filter: t.arg({ type: AuditFilter, description: 'Which events to list.' }),
        timezone: t.arg.string({
          required: true,
          defaultValue: 'UTC',
          description: AUDIT_DESCRIPTIONS.timezoneName,
        }),
      },
      resolve: (_root, { filter, timezone, ...page }, context, info) => {
        const { services, signal } = context
        const input = { ...withoutNulls(filter), timezone }
        const onLimit = showLimit(context.reply)
        return cursorConnection(page, info, {
          read: (query) => services.audit.list(callerOf(context), input, query, onLimit, signal),
          count: () => services.audit.count(callerOf(context), input, onLimit, signal).catch(placeInFilter),
        })
      },
    },
    AuditEventConnection,
  ),
  auditEvent: t.field({
    type: AuditEventType,
    nullable: true,
    description: `The event of the audit log with this number; null if it was cut off, or there is none yet. ${FOR_ADMINS}`,
    args: { n: t.arg({ type: 'SafeInt', required: true, description: AUDIT_DESCRIPTIONS.n }) },
    resolve: (_root, { n }, { loaders }) => {
      requireEventNumber(n)
      return loaders.auditEvent(n)
    },
  }),
}))
