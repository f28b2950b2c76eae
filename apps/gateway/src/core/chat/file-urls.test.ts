import { expect, test } from 'vitest'
import { fileUrlProblem } from './file-urls.ts'

test.each([
  'https://files.example.com/a.pdf',
  'http://files.example.com:8080/a%20b.pdf?x=1#y',
  'https://8.8.8.8/a.png',
  'https://[2606:4700:4700::1111]/a.png',
  'https://[2606:4700:4700:0:0:0:0:1111]/a.png',
  // NAT64 and 6to4 of public addresses.
  'https://[64:ff9b::8.8.8.8]/a.png',
  'https://[2002:808:808::1]/a.png',
  'https://例え.jp/ファイル.pdf',
  'https://localhost.example.com/',
  'https://1.2.3.4.example.com/',
])('%s may be attached', (url) => {
  expect(fileUrlProblem(url)).toBeUndefined()
})

test.each([
  ['', 'an http or https URL'],
  ['a.pdf', 'an http or https URL'],
  ['//files.example.com/a.pdf', 'an http or https URL'],
  ['ftp://files.example.com/a.pdf', 'an http or https URL'],
  ['file:///etc/passwd', 'an http or https URL'],
  ['data:text/plain,x', 'an http or https URL'],
  ['javascript:alert(1)', 'an http or https URL'],
  ['https://', 'an http or https URL'],
  // What the parser mends, another reader may take for another host.
  ['https:files.example.com/a.pdf', 'an http or https URL'],
  [' https://files.example.com/a.pdf', 'an http or https URL'],
  ['https://files.example.com/a b.pdf', 'an http or https URL'],
  ['https://files.example.com\\@10.0.0.1/a.pdf', 'an http or https URL'],
  ['https://files.exa\nmple.com/a.pdf', 'an http or https URL'],
  ['https://user@files.example.com/', 'a URL without credentials'],
  ['https://user:password@files.example.com/', 'a URL without credentials'],
  [`https://files.example.com/${'a'.repeat(2048)}`, 'a URL of at most 2048 characters'],
])('%s is refused: expected %s', (url, expected) => {
  expect(fileUrlProblem(url)).toBe(expected)
})

test.each([
  // Names.
  'localhost',
  'LOCALHOST',
  'localhost.',
  'files',
  'files.localhost',
  'files.local',
  'metadata.google.internal',
  'metadata.google.internal.',
  'printer.lan',
  'nas.home.arpa',
  // IPv4 in every spelling.
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '0x7f.1',
  '127.0.0.1.',
  '１２７.0.0.1',
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  // IPv6, also around IPv4.
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[fc00::1]',
  '[fdab::1]',
  '[fe80::1]',
  '[ff02::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b:1::8.8.8.8]',
  '[2002:7f00:1::]',
  '[2002:a00:1::1]',
])('%s is no public host', (host) => {
  expect(fileUrlProblem(`http://${host}/a.pdf`)).toBe('a publicly reachable URL')
})
