import type { Redis } from 'ioredis'
import type { RepliesDeps } from '#core/reply-log/replies.ts'
import { createReplyStore, type ReplyStore } from '#core/reply-log/store/reply-store.ts'
import { createWakeUps } from '#core/reply-log/wake-ups/create-wake-ups.ts'
import type { WakeUps } from '#core/reply-log/wake-ups/wake-ups.ts'
import { logChanges } from '#ops/log-changes.ts'
import type { Surroundings } from './surroundings.ts'

export interface ReplyLogParts {
  readonly replyStore: ReplyStore
  readonly wakeUps: WakeUps
  readonly repliesObserver: RepliesDeps['observer']
}

/** @param installation - what identifies the database among those that share a Redis */
export function buildReplyLog(
  { config, database, runtime, metrics, log }: Surroundings,
  { redis, installation }: { readonly redis: Redis | undefined; readonly installation: () => string },
): ReplyLogParts {
  const { secretKey, secretKeyPrevious } = config
  const ofReplies = { ...database, sql: database.lanes.replies }
  return {
    replyStore: createReplyStore({
      database: ofReplies,
      upkeepSql: database.lanes.upkeep,
      randomBytes: runtime.randomBytes,
      secretKeys: { secretKey, secretKeyPrevious },
      bounds: config.replies,
    }),
    wakeUps: createWakeUps({
      database: ofReplies,
      redis,
      installation,
      runtime,
      observer: {
        wakeUpsArrive: logChanges(
          log,
          'messages of other processes arrive again',
          'messages of other processes do not arrive: readers of kept replies look at the database',
        ),
      },
    }),
    repliesObserver: {
      lost(callId) {
        metrics.replyLost()
        log.warn(
          { callId },
          'the reply of a call is no longer kept: it is too large, or could not be stored in time',
        )
      },
      storable: logChanges(
        log,
        'the replies of calls can be stored again',
        'the replies of calls cannot be stored',
      ),
    },
  }
}
