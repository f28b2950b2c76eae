import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createErasureTurns } from './erasure-turns.ts'

/** A connection whose statements are answered one by one. */
function slowConnection() {
  const running: { readonly text: string; answer(): void }[] = []
  return {
    running,
    query<Row>(text: string): Promise<Row[]> {
      return new Promise((resolve) => {
        running.push({
          text,
          answer() {
            running.splice(0, 1)
            resolve([])
          },
        })
      })
    },
  }
}

test('an erasure waits for one statement of another owner’s, and for all of an earlier one of its own', async () => {
  const connection = slowConnection()
  const turns = createErasureTurns(connection)
  const erase = (owner: string, name: string) =>
    turns.inTurn(owner, async (sql) => {
      for (const n of [1, 2, 3]) await sql.query(`${name}${n}`)
    })
  const all = Promise.all([erase('a', 'first '), erase('a', 'second '), erase('b', 'third ')])
  const order: string[] = []
  while (order.length < 9) {
    await setImmediate()
    expect(connection.running).toHaveLength(1)
    const [statement] = connection.running
    order.push(statement?.text ?? '')
    statement?.answer()
  }
  await all
  expect(order.slice(0, 6)).toEqual(['first 1', 'third 1', 'first 2', 'third 2', 'first 3', 'third 3'])
  expect(order.slice(6)).toEqual(['second 1', 'second 2', 'second 3'])
})

test('an owner with as many waiting erasures as it may have is refused before it counts, and another is not', async () => {
  const connection = slowConnection()
  const turns = createErasureTurns(connection, { inAll: 3, perOwner: 1 })
  const erasures = [1, 2].map(() => turns.inTurn('a', (sql) => sql.query('SELECT')))
  expect(() => turns.requirePlace('a')).toThrow(
    expect.objectContaining({ reason: 'rate_limited', detail: expect.stringContaining('erasures') }),
  )
  turns.requirePlace('b')
  for (const erasure of erasures) {
    await setImmediate()
    connection.running[0]?.answer()
    await erasure
  }
})
