/** A refused request, how many there were, and the filters of both. */
export const REFUSAL_DESCRIPTIONS = {
  resource:
    'A request of a known API key or access token that was refused before it was a call. It is kept for a day, and only the first ones of each reason, credential and hour are.',
  id: 'The id of the refusal.',
  requestId: 'The id of the request (`X-Request-Id`).',
  at: 'When it was refused.',
  keyId: 'The id of the API key; null for an access token.',
  ownerId: 'The id of the user whom the API key or the access token belongs to.',
  face: 'The interface through which the request came.',
  route:
    'The template of the path, such as `/api/v1/users/:id`, or the root field of the GraphQL operation; `/graphql` if that was refused before it ran.',
  agent:
    'The id of the agent; empty if the request named none, and `other` if it named one that is not configured.',
  reason: 'The stable word of the error.',
  status: 'The HTTP status that belongs to the reason.',
  limit:
    'Which limit refused it, such as `chat`, or which part of the gateway was not available; empty where the reason says it all.',
  limitPoints:
    'How many requests a rate limit allows in its time, on all processes together; null for any other limit.',
  limitWindowSeconds: 'The time of the rate limit, in seconds; null for any other limit.',
  limitOf: 'Whose rate limit it is: `key` or `gateway`; null for any other limit.',
  field: 'The input at fault, by the name that its interface has for it; null if it was none.',
  count:
    'Requests that were refused for one reason in one minute, hour or day. The requests of unknown credentials are counted as well, without a key or an owner, and shown only to administrators. Counts are kept for 30 days.',
  start:
    'When the minute, hour or day begins in the requested time zone; for the first one, when the range begins.',
  countKeyId: 'The id of the API key; null for access tokens and unknown credentials.',
  countOwnerId:
    'The id of the user whom the API key or the access tokens belong to; null for unknown credentials.',
  countNumber: 'How many requests were refused.',
  per: 'The length of the buckets. Without `from`, the last hour is counted by the minute, the last day by the hour, or the last 30 days by the day; a range by the minute may be a day long.',
  minute: 'Minutes. Without `from`, the last hour is counted.',
  hour: 'Hours. Without `from`, the last day is counted.',
  day: 'Days of the time zone. Without `from`, the last 30 days are counted.',
  ofKey: 'Only requests with the API key with this id.',
  ofUser: 'Only requests with the API keys and access tokens of the user with this id.',
  toAgent:
    'Only requests for this agent, such as `fastgpt`, which must be configured or have been called before; an empty text stands for requests that named none, and `other` for those that named one that is not configured.',
  ofReason:
    'Only requests that were refused for this reason: a stable word of an error, such as `rate_limited`.',
  ofLimit: 'Only requests that this limit or this part of the gateway refused, such as `chat`.',
  ofRequest: 'Only refusals of the request with this id.',
  fromTime:
    'Only requests refused at this time or later: ISO 8601 with a time zone, or a date, such as `2026-10-01`, which stands for the start of that day in `timezone`.',
  toTime:
    'Only requests refused before this time, in the same form as `from`, which must not be later: a date stands for the start of that day, which is not included.',
  countsFromTime:
    'Only requests refused at this time or later: ISO 8601 with a time zone, or a date, such as `2026-10-01`, which stands for the start of that day in `timezone`. The range begins with the minute that contains it.',
  countsToTime:
    'Only requests refused before this time, in the same form as `from`, which must be earlier. The range ends with the minute in which it lies; now by default.',
  timezoneName:
    'The IANA name of the time zone in which the days of `from` and `to` begin, such as `Asia/Shanghai`; UTC by default.',
  countsTimezoneName:
    'The IANA name of the time zone in which days begin, also those of `from` and `to`, such as `Asia/Shanghai`; UTC by default.',
} as const
