export const AUDIT = {
  user: {"kind":"user","field":"userId","parameter":"user_id"},
  key: {"kind":"key","field":"keyId","parameter":"key_id"},
  operation: {"kind":"text","field":"operation","parameter":"operation","maxLength":256},
  result: {"kind":"words","field":"result","parameter":"result","words":["DONE","REFUSED","FAILED"]},
  target: {"kind":"text","field":"target","parameter":"target","maxLength":256},
  targetId: {"kind":"text","field":"targetId","parameter":"target_id","maxLength":256},
  requestId: {"kind":"text","field":"requestId","parameter":"request_id","maxLength":128},
} as const
export const REFUSALS = {
  key: {"kind":"key","field":"keyId","parameter":"key_id"},
  user: {"kind":"user","field":"ownerId","parameter":"owner_id"},
  agent: {"kind":"agent","field":"agentId","parameter":"agent"},
  reason: {"kind":"text","field":"reason","parameter":"reason","maxLength":64},
  limitName: {"kind":"text","field":"limitName","parameter":"limit_name","maxLength":256},
  requestId: {"kind":"text","field":"requestId","parameter":"request_id","maxLength":128},
} as const
export const CONVERSATIONS = {
  agent: {"kind":"agent","field":"agentId","parameter":"agent"},
  app: {"kind":"text","field":"appId","parameter":"app","maxLength":256},
  endUser: {"kind":"text","field":"endUser","parameter":"end_user","maxLength":256},
  conversation: {"kind":"text","field":"conversationId","parameter":"conversation","maxLength":256},
  user: {"kind":"user","field":"ownerId","parameter":"owner_id"},
  search: {"kind":"search","field":"search","parameter":"search"},
} as const
export const CALLS = {
  agent: {"kind":"agent","field":"agentId","parameter":"agent"},
  app: {"kind":"text","field":"appId","parameter":"app","maxLength":256},
  deployment: {"kind":"text","field":"deployment","parameter":"deployment","maxLength":256},
  model: {"kind":"text","field":"model","parameter":"model","maxLength":256},
  kind: {"kind":"words","field":"kind","parameter":"kind","words":["CHAT","UPLOAD"]},
  face: {"kind":"words","field":"face","parameter":"face","words":["REST","OPENAI","GRAPHQL","RESPONSES"]},
  key: {"kind":"key","field":"keyId","parameter":"key_id"},
  user: {"kind":"user","field":"ownerId","parameter":"owner_id"},
  endUser: {"kind":"text","field":"endUser","parameter":"end_user","maxLength":256},
  conversation: {"kind":"text","field":"conversationId","parameter":"conversation","maxLength":256},
  requestId: {"kind":"text","field":"requestId","parameter":"request_id","maxLength":128},
  reason: {"kind":"text","field":"reason","parameter":"reason","maxLength":64},
  paused: {"kind":"flag","field":"paused","parameter":"paused"},
  firstChunkMsMin: {"kind":"number","field":"firstChunkMsMin","parameter":"first_chunk_ms_min"},
  durationMsMin: {"kind":"number","field":"durationMsMin","parameter":"duration_ms_min"},
  totalTokensMin: {"kind":"number","field":"totalTokensMin","parameter":"total_tokens_min"},
  outcome: {"kind":"words","field":"outcome","parameter":"outcome","words":["DONE","CLIENT_GONE","UPSTREAM_ERROR","TIMEOUT","DRAINED","INTERRUPTED","REJECTED","RUNNING","FAILED"]},
} as const
export const KEYS = {
  search: {"kind":"search","field":"search","parameter":"search"},
  state: {"kind":"words","field":"state","parameter":"state","words":["ACTIVE","PAUSED","EXPIRED","REVOKED"]},
  expiresBefore: {"kind":"time","field":"expiresBefore","parameter":"expires_before"},
  expiresWithin: {"kind":"text","field":"expiresWithin","parameter":"expires_within","maxLength":8},
  unusedFor: {"kind":"text","field":"unusedFor","parameter":"unused_for","maxLength":8},
  user: {"kind":"user","field":"ownerId","parameter":"owner_id"},
} as const
export const KEYS_ORDERS = ["CREATED_AT","NAME","LAST_USED_AT","EXPIRES_AT","CALLS_TODAY","CALLS_THIS_MONTH","TOTAL_CALLS"] as const
export const USERS = {
  search: {"kind":"search","field":"search","parameter":"search"},
  state: {"kind":"words","field":"state","parameter":"state","words":["ACTIVE","SUSPENDED"]},
  role: {"kind":"words","field":"role","parameter":"role","words":["ADMIN","PREMIUM","USER"]},
  quotaPercentMin: {"kind":"number","field":"quotaPercentMin","parameter":"quota_percent_min"},
} as const
export const USERS_ORDERS = ["CREATED_AT","USERNAME","LAST_LOGIN","API_CALLS_COUNT","QUOTA_USED"] as const
export const PROCESSES = {
  state: {"kind":"words","field":"state","parameter":"state","words":["LIVE","ENDED"]},
} as const
