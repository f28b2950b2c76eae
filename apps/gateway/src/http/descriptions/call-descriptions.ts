/** A call of the ledger, and the filters of calls. */
export const CALL_DESCRIPTIONS = {
  requestId: 'The id of the request (`X-Request-Id`).',
  keyId: 'The id of the API key that made the call.',
  ownerId: 'The id of the user whom the API key belongs to.',
  endUser: 'The end user that the client named; empty if it named none.',
  kind: 'What the call did.',
  face: 'The interface through which the call came.',
  agent: 'The id of the agent; empty for uploads that named none.',
  app: 'The id of the app of the agent; empty if there is none.',
  deployment:
    'The id of the deployment of the agent to which the last request of the call was sent, such as `main`, by the configuration of that time; null while the call runs, if nothing was sent or it was interrupted, and for uploads.',
  model: 'The model that the platform named; null if it named none.',
  conversation: 'The id by which the client names the conversation.',
  outcome: 'How the call ended; null while it runs.',
  stop: 'Stops a running call at its platform, in whichever process it runs, and whether it is kept or not; an upload as well. Administrators stop all calls, users those of their own keys, an API key that may chat all calls of its owner, and one that may only upload its own. One that is limited to agents stops, beside its own calls, only those of these agents, and a request that a trusted proxy has bound to an end user only those of that one. Only the API key that made a kept call may name it by its `Idempotency-Key`. A call that has ended is left as it is, so that a repetition does no harm.',
  stopOutcome:
    'How the call has ended. Null while it still runs: it ends within a second or so, unless its process is of an older version, which the record of the call shows.',
  reason: 'The stable word of the error; null if the call did not fail.',
  attempts:
    'How many requests were sent to deployments of the agent for this call, which is one call however many they were. `reason` and the words of the platform are those of the last one. Null while the call runs, if nothing was sent or it was interrupted, and for uploads.',
  platformStatus: 'The HTTP status of the error of the platform. Shown only to administrators.',
  platformCode: "The platform's own code of the error. Shown only to administrators.",
  platformLogId: 'The id by which the support of the platform finds the call. Shown only to administrators.',
  instanceId:
    'The id of the process that served the call, which all of its log lines have. Shown only to administrators.',
  instanceHost:
    'The name of the machine of that process; null once it ended more than `instance.retentionDays` ago. Shown only to administrators.',
  instancePid: 'The process id on that machine; null as `host` is. Shown only to administrators.',
  instanceVersion: 'The version of that process; null as `host` is. Shown only to administrators.',
  traceId:
    'The id of the trace of the call, in hex; null while the call runs, and if it was not traced or was interrupted. Shown only to administrators.',
  attemptList:
    'The attempts, in their order, if there were several or the only one failed: a first attempt that succeeds is in the fields of the call itself. At most eight. Null otherwise, while the call runs, if it was interrupted, and for uploads.',
  attemptDeployment: 'The id of the deployment to which it was sent.',
  attemptStartMs:
    'The milliseconds from the dispatch of the call until it was sent; until it began, if it failed before that.',
  attemptDurationMs: 'The milliseconds from then to its end.',
  attemptOutcome: 'How it ended, and with it the call if no other attempt followed.',
  attemptReason: 'The stable word of its error; null if it did not fail.',
  promptTokens: 'The tokens of the input; null if they were not reported.',
  completionTokens: 'The tokens of the reply; null if they were not reported.',
  totalTokens: 'The tokens of both; null if they were not reported.',
  admittedAt: 'When the call was admitted.',
  queuedMs:
    'The milliseconds that the call waited for a free slot of its agent before it was admitted, which are part of no other time; null if it did not wait, and while it runs.',
  firstChunkMs: 'The milliseconds from the dispatch to the first text; null if there was none.',
  durationMs: 'The milliseconds from the dispatch to the end; null while the call runs.',
  endedAt: 'When the call ended; null while it runs.',
  replays:
    'How many later requests with the same `Idempotency-Key` were answered from this call. They are no calls of their own.',
  paused:
    'Whether the reply of the call ended with a question to its user, a pause, at which the run waited. It stays true after the answer.',
  answers: 'The id of the call whose pause this one answered or gave up; null if there is none.',
  rating: 'What the user thinks of the answer; null if it was not rated.',
  ratingText: 'What the user said about it; null without a text.',
  answeredBy: 'The id of the call that answered the pause of this one or gave it up; null if none has.',
  ofKey: 'Only calls of the API key with this id.',
  ofUser: 'Only calls of the API keys of the user with this id.',
  toAgent:
    'Only calls to this agent, such as `fastgpt`, which must be configured or have been called before.',
  fromTime:
    'Only calls admitted at this time or later: ISO 8601 with a time zone, or a date, such as `2026-10-01`, which stands for the start of that day in `timezone`.',
  toTime:
    'Only calls admitted before this time, in the same form as `from`, which must not be later: a date stands for the start of that day, which is not included.',
  timezoneName:
    'The IANA name of the time zone in which the days of `from` and `to` begin, such as `Asia/Shanghai`; UTC by default.',
  ofApp:
    'Only calls of the app with this id; an empty text stands for calls without an app. Ids of apps belong to an agent.',
  ofDeployment:
    'Only calls whose last request was sent to the deployment with this id; an empty text stands for calls of which none is known, such as those that still run. Ids of deployments belong to an agent.',
  ofModel:
    'Only calls for which the platform named this model; an empty text stands for calls for which it named none.',
  ofEndUser:
    'Only calls of the end user whom the client named so; an empty text stands for calls without one. The same name with another user is another end user.',
  ofKind: 'Only calls that did this.',
  throughFace: 'Only calls that came through this interface.',
  ofReason:
    'Only calls that failed or were refused for this reason: a stable word of an error, such as `agent_timeout`.',
  ofPaused: 'Only calls that paused, or only those that did not.',
  firstChunkMsMin: 'Only calls whose first text came at least this many milliseconds after the dispatch.',
  durationMsMin: 'Only calls that took at least this many milliseconds from the dispatch to the end.',
  totalTokensMin: 'Only calls for which the platform reported at least this many tokens.',
  ofRequest: 'Only calls of the request with this id.',
  ofConversation:
    'Only calls of the conversation that the client names by this id. The same id of another user, end user, agent or app is another conversation.',
} as const
