/** A report of usage and what it may be asked for. */
export const USAGE_DESCRIPTIONS = {
  report: 'The calls that have ended, each counted in the hour, day or month in which it was admitted.',
  from: 'The start of the report.',
  to: 'The end of the report, not included.',
  timezone: 'The time zone in which days and months begin.',
  granularity: 'The length of the buckets.',
  groupBy: 'The properties by which the calls are grouped.',
  totals: 'The numbers of all calls together.',
  calls: 'How many calls there were.',
  promptTokens: 'The tokens of the inputs; null where none were reported.',
  completionTokens: 'The tokens of the replies; null where none were reported.',
  totalTokens: 'The tokens of both; null where none were reported.',
  tokenCoverage:
    'The share (0 to 1) of the calls for which the platform reported tokens. The sums of tokens cover only these calls. Null where there were no calls.',
  firstChunkMs:
    'The time from the dispatch of a call to its first text, in milliseconds, with an error of at most 4.9 %; null where there is no such call.',
  durationMs:
    'The time from the dispatch of a call to its end, in milliseconds, with an error of at most 4.9 %; null where there is no such call.',
  p50: 'The median: half of the calls took no longer.',
  p95: 'The 95th percentile.',
  p99: 'The 99th percentile.',
  timezoneName:
    'The IANA name of the time zone in which days and months begin, such as `Asia/Shanghai`. Its offset from UTC must be whole hours.',
} as const
