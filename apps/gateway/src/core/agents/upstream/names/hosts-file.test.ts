import { expect, test } from 'vitest'
import { parseHosts } from './hosts-file.ts'

test('each name of a line has its address, and a name of several lines all of theirs', () => {
  const hosts = parseHosts(`# the machine
127.0.0.1\tlocalhost  loopback # not: ignored.example
::1 localhost
10.0.0.1 DB.Example db
10.0.0.2 db.example
10.0.0.2 db.example
fe80::1%lo0 link
not-an-address broken
10.0.0.3
`)
  expect(Object.fromEntries(hosts)).toEqual({
    localhost: ['127.0.0.1', '::1'],
    loopback: ['127.0.0.1'],
    'db.example': ['10.0.0.1', '10.0.0.2'],
    db: ['10.0.0.1'],
    link: ['fe80::1%lo0'],
  })
})
