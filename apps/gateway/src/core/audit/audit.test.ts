import { expect, test } from 'vitest'
import type { Sql } from '#core/database/database.ts'
import { createAudit } from './audit.ts'

const failing = (code: string): Sql => ({
  query: () => Promise.reject(Object.assign(new Error(code), { code })),
})
const WHO = { actor: 'anonymous' } as const
const EVENT = { operation: 'login' } as const

test.each(['25006', '42501', '53100'])(
  'what goes on while the database takes no writes (%s) goes on without its event, which is counted',
  async (code) => {
    let dropped = 0
    const audit = createAudit({ sql: failing(code), onDropped: () => (dropped += 1) })
    await audit.append(WHO, EVENT)
    await audit.appendBounded(WHO, EVENT, [{ kind: 'address', id: '192.0.2.1' }])
    await audit.appendBounded(WHO, EVENT, [{ kind: 'address', id: '192.0.2.1' }], 'address')
    expect(dropped).toBe(3)
  },
)

test.each(['55P03', 'ECONNREFUSED', '23514'])(
  'any other failure is one of the operation (%s)',
  async (code) => {
    const audit = createAudit({ sql: failing(code) })
    await expect(audit.append(WHO, EVENT)).rejects.toMatchObject({ code })
    await expect(audit.appendBounded(WHO, EVENT, [])).rejects.toMatchObject({ code })
  },
)
