import { beforeEach, expect, test } from 'vitest'
import { IdleSockets } from './idle-sockets.ts'

const IDLE_MS = 1_000

let nowMs: number
let sockets: IdleSockets<string>

beforeEach(() => {
  nowMs = 0
  sockets = new IdleSockets({
    idleMsMin: IDLE_MS,
    elapsedMs: () => nowMs,
    isProxy: (address) => address.startsWith('10.9.'),
  })
})

const addMany = (address: string, ...names: string[]) => names.map((name) => sockets.add(name, address))
/** Takes away one after the other, as a server does that needs room. */
function takeAll(): string[] {
  const taken: string[] = []
  for (let next = sockets.next(); next !== undefined; next = sockets.next()) {
    taken.push(next.socket)
    next.remove()
  }
  return taken
}

test('of the address with most idle sockets the longest idle one is next', () => {
  addMany('192.0.2.1', 'a1', 'a2')
  addMany('192.0.2.2', 'b1', 'b2', 'b3', 'b4')
  addMany('192.0.2.3', 'c1')
  nowMs = IDLE_MS
  const taken = takeAll()
  expect(taken.slice(0, 2)).toEqual(['b1', 'b2'])
  expect(taken).toHaveLength(7)
  expect(sockets.size).toBe(0)
})

test('a socket with a request is never next, and is the last of its address when the request has ended', () => {
  const [one, two] = addMany('192.0.2.1', 'one', 'two', 'three')
  one?.begin()
  two?.begin()
  nowMs = IDLE_MS
  expect(sockets.next()?.socket).toBe('three')
  nowMs += 1
  one?.end()
  two?.end()
  nowMs += IDLE_MS
  expect(takeAll()).toEqual(['three', 'one', 'two'])
})

test('a socket whose client sends several requests at once is idle after the last of them', () => {
  const [socket] = addMany('192.0.2.1', 'pipelined')
  socket?.begin()
  socket?.begin()
  socket?.end()
  nowMs = 10 * IDLE_MS
  expect(sockets.next()).toBeUndefined()
  socket?.end()
  expect(sockets.next()).toBeUndefined()
  nowMs += IDLE_MS
  expect(sockets.next()?.socket).toBe('pipelined')
})

test('a balancer with many sockets that work is not cut for an address with fewer that all idle', () => {
  const balancer = addMany('10.0.0.1', ...Array.from({ length: 100 }, (_, index) => `balancer ${index}`))
  for (const socket of balancer.slice(5)) socket.begin()
  addMany('192.0.2.1', ...Array.from({ length: 20 }, (_, index) => `other ${index}`))
  nowMs = IDLE_MS
  const first = takeAll().slice(0, 15)
  expect(new Set(first.map((name) => name.split(' ')[0]))).toEqual(new Set(['other']))
})

test('while the sockets of the address with most have just come, none is next, also of other addresses', () => {
  addMany('192.0.2.1', 'old')
  nowMs = IDLE_MS
  addMany('192.0.2.2', 'new', 'newer', 'newest')
  expect(sockets.next()).toBeUndefined()
  nowMs += IDLE_MS
  expect(sockets.next()?.socket).toBe('new')
})

test('of addresses with as many idle sockets the longest idle one is next', () => {
  const [first] = addMany('192.0.2.1', 'first')
  addMany('192.0.2.2', 'second')
  addMany('192.0.2.3', 'third')
  first?.begin()
  nowMs = 1
  first?.end()
  nowMs += IDLE_MS
  expect(takeAll()).toEqual(['second', 'third', 'first'])
})

test('the addresses of an IPv6 /64 count as one', () => {
  addMany('192.0.2.1', 'a', 'b')
  for (const host of ['1', '2', '3']) addMany(`2001:db8:1:2::${host}`, `v6 ${host}`)
  nowMs = IDLE_MS
  expect(sockets.next()?.socket).toBe('v6 1')
})

test('a socket on which a request arrives stays idle, but is as if it had just come', () => {
  const [waiting, other] = addMany('192.0.2.1', 'waiting', 'other')
  nowMs = IDLE_MS
  waiting?.arrive()
  expect(sockets.next()?.socket).toBe('other')
  other?.begin()
  expect(sockets.next()).toBeUndefined()
  // Of a request that is being served nothing changes by the next one.
  other?.arrive()
  nowMs += IDLE_MS
  expect(takeAll()).toEqual(['waiting'])
})

test('the sockets of proxies are of as many clients, so an address with two idle ones is cut before them', () => {
  addMany('10.9.0.1', 'p1', 'p2', 'p3', 'p4')
  addMany('10.9.0.2', 'q1')
  addMany('192.0.2.1', 'a1', 'a2')
  nowMs = IDLE_MS
  // Of those that count as one each, the longest idle one is next, whichever proxy it belongs to.
  expect(takeAll()).toEqual(['a1', 'p1', 'p2', 'p3', 'p4', 'q1', 'a2'])
})

test('what has ended late of a socket that is gone leaves nothing behind', () => {
  const [socket] = addMany('192.0.2.1', 'gone')
  socket?.begin()
  socket?.remove()
  socket?.remove()
  socket?.end()
  nowMs = IDLE_MS
  expect([sockets.size, sockets.next()]).toEqual([0, undefined])
})
