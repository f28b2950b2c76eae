/** A report of usage, and the properties of a request for it. */
export const USAGE_DESCRIPTIONS = {
  report: 'The calls that have ended, each counted in the hour, day or month in which it was admitted.',
  from: 'The start of the report: that of the hour that contains the requested `from`.',
  to: 'The end of the report, not included: the requested `to`, or the end of the hour in which it lies.',
  timezone: 'The time zone in which days and months begin.',
  granularity: 'The length of the buckets.',
  groupBy: 'The properties by which the calls are grouped.',
  byConversation:
    'The conversation of one agent, which is required, by its id at the gateway: the 100 that were used last. It stands alone, and is read from the ledger, so that the report has no calls that the ledger has not.',
  totals: 'The numbers of all calls together.',
  calls: 'How many calls there were.',
  promptTokens: 'The tokens of the inputs; null where none were reported.',
  completionTokens: 'The tokens of the replies; null where none were reported.',
  totalTokens: 'The tokens of both; null where none were reported.',
  tokenCoverage:
    'The share (0 to 1) of the calls for which the platform reported tokens. The sums of tokens cover only these calls. Null where there were no calls.',
  ratedUp: 'How many of the answers their users rated as good.',
  ratedDown: 'How many of the answers their users rated as bad.',
  firstChunkMs:
    'The time from the dispatch of a call to its first text, in milliseconds, with an error of at most 4.9 %; null where there is no such call.',
  durationMs:
    'The time from the dispatch of a call to its end, in milliseconds, with an error of at most 4.9 %; null where there is no such call.',
  p50: 'The median: half of the calls took no longer.',
  point: 'The numbers of one hour, day or month, as far as it lies within the report.',
  groupTotals: 'The numbers of the group over the whole report.',
  points:
    'One for each hour, day or month in order and without gaps: one with zeros where there were no calls. The first and the last have only the part of their day or month that lies within the report.',
  start:
    'When the hour, day or month begins in the time zone of the report; for the first one, when the report begins.',
  p95: 'The 95th percentile.',
  p99: 'The 99th percentile.',
  timezoneName:
    'The IANA name of the time zone in which days and months begin, also those of `from` and `to`, such as `Asia/Shanghai`; UTC by default. Its offset from UTC must be whole hours.',
  ofApp:
    'Only calls of the app with this id; an empty text stands for calls without an app. Ids of apps belong to an agent. Apps beyond the bound of a day are counted under `(other)`.',
  ofEndUser:
    'Only calls of the end user whom the client named so, with all keys together; an empty text stands for calls without one. End users beyond the bound of a day are counted under `(other)`.',
  fromTime:
    'Only calls admitted at this time or later: ISO 8601 with a time zone, or a date, such as `2026-10-01`, which stands for the start of that day in `timezone`. The report begins with the hour that contains it.',
  compareFrom: 'The start of the period with which the report is compared, in the same form as `from`.',
  compareTo:
    'The end of the period with which the report is compared, not included; without it, that period is as long as the report.',
  toTime:
    'Only calls admitted before this time, in the same form as `from`, which must be earlier: a date stands for the start of that day, which is not included. The report ends with the hour in which it lies; now by default.',
} as const
