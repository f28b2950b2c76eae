import type { OnLimit } from '#core/limits/limits.ts'
import { ifGiven } from '#core/requests/input/all-of.ts'
import { cursorOfId, idOfCursor } from '#core/requests/input/pagination.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { Call } from '#generated/prisma/client.ts'
import type { CallInstance } from './call-instances.ts'
import type { Calls } from './calls.ts'
import type { CallsInput } from './calls-query.ts'
import type { ForwardPage } from './record-list.ts'

/** A call with the process that served it, of which all is null for callers who may not see it. */
export interface ServedCall extends Call {
  readonly instanceHost: string | null
  readonly instancePid: number | null
  readonly instanceVersion: string | null
  readonly cursor: string
}

/** The calls with the processes that served them, which are read for a page at once. */
export function servedCalls(calls: Pick<Calls, 'list' | 'export' | 'find' | 'findInstances'>) {
  /** Reads each process once, because it serves many calls. */
  const reader = (caller: Principal) => {
    const known = new Map<string, CallInstance | undefined>()
    return async (found: readonly Call[]): Promise<ServedCall[]> => {
      const ids = new Set(found.map(({ instance }) => instance).filter((id) => !known.has(id)))
      const instances = ids.size === 0 ? [] : await calls.findInstances(caller, [...ids])
      for (const id of ids) known.set(id, undefined)
      for (const instance of instances) known.set(instance.id, instance)
      return found.map((call) => served(call, known.get(call.instance)))
    }
  }
  return {
    async list(
      caller: Principal,
      input: CallsInput,
      { take, cursor }: ForwardPage,
      onLimit?: OnLimit,
      signal?: AbortSignal,
    ): Promise<ServedCall[]> {
      const after = ifGiven(cursor, (text) => ({ id: idOfCursor(text) }))
      return reader(caller)(await calls.list(caller, input, { take, cursor: after }, onLimit, signal))
    },
    async export(...query: Parameters<Calls['export']>): Promise<AsyncIterable<ServedCall>> {
      return withInstances(await calls.export(...query), reader(query[0]))
    },
    /** @throws Problem `call_not_found` for a call that does not exist and for one that the caller may not see */
    async find(caller: Principal, id: string): Promise<ServedCall> {
      const call = await calls.find(caller, id)
      const [instance] = await calls.findInstances(caller, [call.instance])
      return served(call, instance)
    },
  }
}

async function* withInstances(
  calls: AsyncIterable<Call>,
  read: (calls: readonly Call[]) => Promise<ServedCall[]>,
): AsyncGenerator<ServedCall> {
  for await (const call of calls) yield* await read([call])
}

function served(call: Call, instance: CallInstance | undefined): ServedCall {
  const { host = null, pid = null, version = null } = instance ?? {}
  return {
    ...call,
    instanceHost: host,
    instancePid: pid,
    instanceVersion: version,
    cursor: cursorOfId(call.id),
  }
}
