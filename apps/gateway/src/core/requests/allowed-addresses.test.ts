import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '#core/database/database.ts'
import { openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import { ADDRESS_DENIED, canonicalAddress, checkedAddresses, isAllowedAddress } from './allowed-addresses.ts'

let database: Database

beforeAll(async () => {
  database = await openScratchDatabase()
})
afterAll(() => database.close())

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['192.0.2.7/32', '192.0.2.7'],
  ['192.0.2.7/24', '192.0.2.0/24'],
  ['203.0.113.255/25', '203.0.113.128/25'],
  ['255.255.255.255/1', '128.0.0.0/1'],
  ['10.1.2.3/0', '0.0.0.0/0'],
  ['2001:DB8:0:0::7', '2001:db8::7'],
  ['2001:db8::7/128', '2001:db8::7'],
  ['2001:db8:ffff::/33', '2001:db8:8000::/33'],
  ['::1/0', '::/0'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::ffff:c000:207', '192.0.2.7'],
  ['::FFFF:192.0.2.7/120', '192.0.2.0/24'],
  ['::ffff:0:0/96', '0.0.0.0/0'],
  // The deprecated form, which ipaddr.js takes for the mapped one.
  ['::192.0.2.7', '192.0.2.7'],
])('%s is stored as %s', (entry, stored) => {
  expect(checkedAddresses([entry, entry, stored])).toEqual([stored])
})

test.each([
  ...['', ' ', 'localhost', 'example.com', '*', '192.0.2.*', '192.0.2.1-192.0.2.9', '192.0.2.7:443', '[::1]'],
  ...[
    '192.0.2',
    '192.0.2.256',
    '192.0.2.07',
    '0300.0.2.7',
    '0xc0.0.2.7',
    '3221225991',
    '192.0.2.7.1',
    '１92.0.2.7',
  ],
  ...[
    '192.0.2.7/33',
    '192.0.2.7/-1',
    '192.0.2.7/',
    '192.0.2.7/08',
    '192.0.2.7/ 8',
    '192.0.2.7/8/8',
    '192.0.2.7/255.0.0.0',
  ],
  ...['/24', ' 192.0.2.7', '192.0.2.7\n', '192.0.2.7,192.0.2.8', '192.0.2.7\0'],
  ...[':::', '2001:db8::/129', '2001:db8::1::', '2001:db8', 'fe80::1%eth0', 'fe80::1%1/64', '12345::'],
  ...['::ffff:192.0.2.7/95', '::ffff:192.0.2.7/0', '::ffff:192.0.2.7/129', '::ffff:192.0.2.256'],
])('%o is refused by its place, twice', (entry) => {
  for (const _try of [1, 2])
    expect(() => checkedAddresses(['192.0.2.1', entry])).toThrow(
      expect.objectContaining({ reason: 'invalid_request', field: ['allowedAddresses', 1] }),
    )
})

test('a list has 1 to 50 entries, and null allows all addresses', () => {
  const many = Array.from({ length: 51 }, (_, n) => `192.0.2.${n}`)
  expect(checkedAddresses(null)).toEqual([])
  expect(checkedAddresses(many.slice(1))).toEqual(many.slice(1))
  for (const wrong of [[], many])
    expect(() => checkedAddresses(wrong)).toThrow(expect.objectContaining({ field: ['allowedAddresses'] }))
})

const LISTS = [
  ['192.0.2.0/24', '203.0.113.7'],
  ['2001:db8::/32', '::1'],
  ['0.0.0.0/0'],
  ['::/0'],
  ['10.0.0.0/8', 'fe80::/10', '192.0.2.128/25'],
]

/** Which of {@link LISTS} allow addresses that clients have, or that a proxy has passed on. */
const ALLOWED: readonly (readonly [lists: readonly number[], ...addresses: string[]])[] = [
  [
    [0, 2],
    '192.0.2.0',
    '192.0.2.1',
    '::ffff:192.0.2.1',
    '::FFFF:C000:0201',
    '0:0:0:0:0:ffff:192.0.2.127',
    '203.0.113.7',
  ],
  [[0, 2], '::ffff:203.0.113.7', '::ffff:192.0.2.1%eth0', '::192.0.2.1'],
  [[0, 2, 4], '192.0.2.128', '192.0.2.255', '::ffff:c000:2ff'],
  [
    [2],
    '192.0.1.255',
    '192.0.3.0',
    '203.0.113.8',
    '0.0.0.0',
    '255.255.255.255',
    '127.0.0.1',
    '::ffff:0.0.0.0',
    '11.0.0.0',
  ],
  [[2, 4], '10.0.0.0', '10.255.255.255', '::ffff:10.1.2.3'],
  [
    [1, 3],
    '::1',
    '0:0:0:0:0:0:0:1',
    '2001:db8::',
    '2001:DB8::1',
    '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
    '2001:db8::192.0.2.1',
  ],
  [
    [3],
    '::',
    '::2',
    '2001:db7::1',
    '2001:db9::',
    '64:ff9b::192.0.2.1',
    '::fffe:192.0.2.1',
    '::ffff:0:192.0.2.1',
  ],
  [[3, 4], 'fe80::1', 'fe80::1%eth0', 'FE80::1%1', 'febf::ffff'],
  [
    [],
    '',
    ' ',
    'unknown',
    'localhost',
    '-',
    '192.0.2.1, 203.0.113.7',
    '192.0.2.1 ',
    ' 192.0.2.1',
    '192.0.2.1:443',
    '[::1]',
  ],
  [
    [],
    '[::1]:443',
    '192.0.2.01',
    '192.0.2',
    '192.0.2.256',
    '0xc0.0.2.1',
    '3221225985',
    '192.0.2.1/24',
    '::1/128',
    '::ffff:192.0.2.1/96',
  ],
  [[], "192.0.2.1'", '192.0.2.1\n', '2001:db8::1::', '12345::', '_hidden', 'for=192.0.2.1', '１92.0.2.1'],
]

test('JavaScript and SQL allow each address to the same lists, however it is written', async () => {
  const rows = ALLOWED.flatMap(([lists, ...addresses]) =>
    addresses.flatMap((address) =>
      [[], ...LISTS].map((allowed, n) => ({ allowed, address, is: n === 0 || lists.includes(n - 1) })),
    ),
  )
  expect(rows.length).toBeGreaterThan(60 * LISTS.length)
  const given = rows.map(({ allowed, address }, n) => ({
    n,
    allowed_addresses: allowed,
    address: canonicalAddress(address),
  }))
  const inSql = await database.sql.query<{ denied: boolean }>(
    `SELECT ${ADDRESS_DENIED} AS denied FROM json_to_recordset($1::json) AS i(n int, allowed_addresses text[], address text) ORDER BY n`,
    [JSON.stringify(given)],
  )
  for (const [n, { allowed, address, is }] of rows.entries()) {
    expect(isAllowedAddress(allowed, address), `${JSON.stringify(address)} by ${allowed}`).toBe(is)
    expect(inSql[n]?.denied, `${JSON.stringify(address)} by ${allowed} in SQL`).toBe(!is)
  }
})
