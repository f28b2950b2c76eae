/** What selects and orders the rows of lists of keys and users. */
export const LIST_DESCRIPTIONS = {
  searchKeys:
    'Only keys with this in their name, prefix or id, or in the username of their owner, if you may see it; without regard to case. Every character stands for itself. A blank text selects all.',
  searchUsers:
    'Only users with this in their username or id, without regard to case. Every character stands for itself. A blank text selects all.',
  keyState:
    'Only keys in this state. A key that was revoked is no longer counted as expired when its time comes.',
  userState: 'Only users with this status.',
  expiresBefore: 'Only keys that are active and expire before this time: ISO 8601 with a time zone.',
  userRole: 'Only users with this role.',
  quotaPercentMin:
    'Only users who have used at least this share of their quota, in percent from 0 to 100; 100 selects those whose calls are refused.',
  keyOrder:
    'What the keys are ordered by, and among equal ones by their ids. Keys that were never used come last.',
  userOrder:
    'What the users are ordered by, and among equal ones by their ids. Users who never logged in come last.',
  keyDirection:
    'The direction. By default, names and expiries ascend, and times of creation and use and numbers of calls descend.',
  userDirection:
    'The direction. By default, usernames ascend, and times of creation and login, numbers of calls and used shares descend.',
  created_at: 'The time of creation.',
  name: 'The name, without regard to case.',
  last_used_at: 'The time of the last use.',
  expires_at: 'The time of expiry.',
  username: 'The username, without regard to case.',
  last_login: 'The time of the last login.',
  calls_today: 'The calls of this day, UTC.',
  calls_this_month: 'The calls of this month, UTC.',
  total_calls: 'The calls since the last reset.',
  api_calls_count: 'The calls that count towards the quota.',
  quota_used: 'The share of the quota that is used.',
  asc: 'From the first to the last, from the oldest to the newest, and from the smallest to the largest.',
  desc: 'From the last to the first, from the newest to the oldest, and from the largest to the smallest.',
  active: 'The key can be used.',
  revoked: 'The key was revoked.',
  expired: 'The key has expired, and was not revoked before.',
} as const
