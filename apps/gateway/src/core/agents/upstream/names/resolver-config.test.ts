import { expect, test } from 'vitest'
import { fullNamesOf, parseResolverConfig } from './resolver-config.ts'

test.each([
  ['nothing', '', { servers: [], search: [], ndots: 1 }],
  [
    'what Kubernetes writes',
    'search a.svc.cluster.local svc.cluster.local\nnameserver 10.96.0.10\noptions ndots:5 timeout:2\n',
    { servers: ['10.96.0.10'], search: ['a.svc.cluster.local', 'svc.cluster.local'], ndots: 5 },
  ],
  [
    'comments, tabs and IPv6',
    '# nameserver 1.1.1.1\n; search no.example\n\tnameserver\t::1 # no comment here\r\n',
    { servers: ['::1'], search: [], ndots: 1 },
  ],
  [
    'several lines, of which the last counts',
    'search a.example\ndomain b.example c.example\noptions ndots:2\noptions rotate\n',
    { servers: [], search: ['b.example'], ndots: 2 },
  ],
  [
    'more than the C library uses',
    `${[1, 2, 3, 4].map((n) => `nameserver 10.0.0.${n}`).join('\n')}\noptions ndots:99 ndots:x`,
    { servers: ['10.0.0.1', '10.0.0.2', '10.0.0.3'], search: [], ndots: 15 },
  ],
  ['a search that ends at the root', 'search . a.example.', { servers: [], search: ['a.example'], ndots: 1 }],
])('reads %s', (_name, text, config) => {
  expect(parseResolverConfig(text, 'vm')).toEqual(config)
})

test('the domain of the machine is searched where the file names none', () => {
  expect(parseResolverConfig('', 'vm.a.example').search).toEqual(['a.example'])
  expect(parseResolverConfig('search b.example', 'vm.a.example').search).toEqual(['b.example'])
})

test.each([
  ['short', 1, ['short.a.example', 'short.b.example', 'short']],
  ['with.dot', 1, ['with.dot', 'with.dot.a.example', 'with.dot.b.example']],
  ['with.dot', 2, ['with.dot.a.example', 'with.dot.b.example', 'with.dot']],
  ['absolute.', 5, ['absolute.']],
])('%s with ndots:%i stands for %j', (name, ndots, names) => {
  expect(fullNamesOf(name, { search: ['a.example', 'b.example'], ndots })).toEqual(names)
})
