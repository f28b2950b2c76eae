import { expect, test } from 'vitest'
import { parseCallsQuery } from './calls-query.ts'
import { parseReportQuery } from './report-query.ts'

const NOW = new Date('2026-11-20T08:30:00.000Z')

test.each([
  [undefined, '2026-10-21T08:30:00.000Z'],
  ['hour', '2026-11-19T08:30:00.000Z'],
  ['day', '2026-10-21T08:30:00.000Z'],
  ['month', '2025-11-20T08:30:00.000Z'],
])('by the %s, a report without a range goes from a fixed time back to now', (granularity, from) => {
  expect(parseReportQuery({ granularity }, NOW)).toEqual({
    from: new Date(from),
    to: NOW,
    timezone: 'UTC',
    granularity: granularity ?? 'day',
    groupBy: [],
    keyId: undefined,
    ownerId: undefined,
    agent: undefined,
    app: undefined,
    model: undefined,
    endUser: undefined,
    outcome: undefined,
  })
})

test('a range without its start begins at the same time of an earlier day, whatever the clocks do', () => {
  const query = parseReportQuery({ to: '2026-11-20', timezone: 'America/New_York' }, NOW)
  expect(query.from).toEqual(new Date('2026-10-21T04:00:00.000Z'))
})

test('a range without its start ends at the requested time', () => {
  const query = parseReportQuery({ to: '2026-11-02', granularity: 'hour' }, NOW)
  expect([query.from, query.to]).toEqual([
    new Date('2026-11-01T00:00:00.000Z'),
    new Date('2026-11-02T00:00:00.000Z'),
  ])
})

test('groups are a set, with or without blanks around them, and times may already be parsed', () => {
  const from = new Date('2026-11-01T00:00:00.000Z')
  const query = parseReportQuery({ from, groupBy: ['agent', ' end_user', 'agent'] }, NOW)
  expect([query.from, query.groupBy]).toEqual([from, ['agent', 'end_user']])
})

test('a range of the ledger may be empty but must not end before it begins', () => {
  const from = '2026-11-20T10:00:00.001Z'
  expect(() => parseCallsQuery({ from, to: '2026-11-20T11:00:00+01:00' })).toThrow(
    expect.objectContaining({ reason: 'invalid_request', field: ['from'] }),
  )
  for (const to of [from, '2026-11-21', undefined])
    expect(parseCallsQuery({ from, to }).from).toEqual(new Date(from))
})

const fields = [
  ['from', { from: '2026-02-30' }],
  ['from', { from: '2026-02-30T00:00:00Z' }],
  ['from', { from: 'yesterday' }],
  ['from', { from: '1969-12-31' }],
  ['to', { to: '2026-01-01T00:00:00' }],
  ['agent', { agent: 'a\0b' }],
  ['agent', { agent: 'a'.repeat(33) }],
  ['app', { app: 'a\0b' }],
  ['model', { model: 'a'.repeat(257) }],
  ['endUser', { endUser: 'a\ud800' }],
  ['outcome', { outcome: ['done', 'lost'] }],
  ['outcome', { outcome: ['toString'] }],
  ['outcome', { outcome: [] }],
  ['timezone', { timezone: 'Mars/Olympus' }],
] as const

test.each(fields)('an invalid %s is rejected in a report and in the ledger (case %#)', (field, wrong) => {
  const refusal = expect.objectContaining({
    reason: 'invalid_request',
    detail: expect.stringContaining(`${field}: `),
  })
  expect(() => parseReportQuery(wrong, NOW)).toThrow(refusal)
  expect(() => parseCallsQuery(wrong)).toThrow(refusal)
})

test.each([
  ['groupBy', { groupBy: ['colour'] }],
  ['groupBy', { groupBy: [''] }],
  ['granularity', { granularity: 'week' }],
] as const)('%s is refused in a report (case %#)', (field, wrong) => {
  expect(() => parseReportQuery(wrong, NOW)).toThrow(
    expect.objectContaining({ detail: expect.stringContaining(`${field}: `) }),
  )
})

test.each([
  ['kind', { kind: 'call' }],
  ['face', { face: 'soap' }],
  ['requestId', { requestId: 'a\ud800' }],
  ['requestId', { requestId: 'a'.repeat(129) }],
  ['conversation', { conversation: 'a\ud800' }],
  ['conversation', { conversation: 'a'.repeat(257) }],
] as const)('%s is refused in the ledger (case %#)', (field, wrong) => {
  expect(() => parseCallsQuery(wrong)).toThrow(
    expect.objectContaining({ detail: expect.stringContaining(`${field}: `) }),
  )
})

test('outcomes are a set, failed stands for all failures, and running is one of the ledger alone', () => {
  const failures = ['upstream_error', 'timeout', 'drained', 'interrupted']
  expect(parseCallsQuery({ outcome: ['failed', 'timeout', ' running'] }).outcome).toEqual([
    ...failures,
    'running',
  ])
  expect(parseReportQuery({ outcome: ['done', 'failed'] }, NOW).outcome).toEqual(['done', ...failures])
  expect(() => parseReportQuery({ outcome: ['running'] }, NOW)).toThrow(
    expect.objectContaining({ field: ['outcome'] }),
  )
})

test.each([
  ['Asia/Shanghai', '2026-09-30T16:00:00.000Z', '2026-10-31T16:00:00.000Z'],
  ['America/New_York', '2026-10-01T04:00:00.000Z', '2026-11-01T04:00:00.000Z'],
  ['Europe/Berlin', '2026-09-30T22:00:00.000Z', '2026-10-31T23:00:00.000Z'],
  [undefined, '2026-10-01T00:00:00.000Z', '2026-11-01T00:00:00.000Z'],
])('in %s a date is the start of that day, in a report and in the ledger', (timezone, from, to) => {
  const october = { from: '2026-10-01', to: '2026-11-01', timezone }
  const range = { from: new Date(from), to: new Date(to) }
  expect(parseReportQuery(october, NOW)).toMatchObject(range)
  expect(parseCallsQuery(october)).toMatchObject(range)
})

test('the ledger takes days of a time zone with any offset', () => {
  expect(parseCallsQuery({ from: '2026-10-01', timezone: 'Asia/Kolkata' }).from).toEqual(
    new Date('2026-09-30T18:30:00.000Z'),
  )
})
