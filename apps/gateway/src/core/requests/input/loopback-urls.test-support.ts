/** The words of these lines. */
export const words = (...lines: string[]): string[] => lines.flatMap((line) => line.split(' '))

/** Hosts that are this machine, in the spellings that parsers of URLs understand, by what is special about them. */
export const LOOPBACK_HOSTS = {
  'names of this machine': words(
    'localhost LocalHost localhost. localhost.. a.b.localhost localhost.localdomain',
    'ip6-localhost ｌｏｃａｌｈｏｓｔ ⓛⓞⓒⓐⓛⓗⓞⓢⓣ loc\u00adal\u200bhost locaLho\u017ft',
    '%6c%6f%63%61%6c%68%6f%73%74 localhost%2e',
  ),
  'decimal IPv4': words(
    '127.0.0.1 127.0.0.2 127.255.255.254 127.0.0.1. 127.0.0.1.. 127.1 127.0.1',
    '2130706433 2130706433. 0 0.0.0.0',
  ),
  'octal and hexadecimal IPv4': words(
    '0177.0.0.1 0177.1 00000177.0.0.1 017700000001 0x7f000001 0X7F000001',
    '0x7f.0x0.0x0.0x1 0x7f.1 0x7f.1.. 0x7f.0.0.01 0x000000007f.0.0.1 0x0',
  ),
  'IPv4 in other characters': words(
    '１２７.0.0.1 127。0。0。1 127．0．0．1 127｡0｡0｡1 𝟏𝟐𝟕.𝟎.𝟎.𝟏 ①②⑦.⓪.⓪.① ¹²⁷.0.0.1',
    '%31%32%37.0.0.1 127%2e0%2e0%2e1 127.0.0.%31 127.\u200b0.0.1',
  ),
  IPv6: words(
    '[::1] [::01] [0::1] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001]',
    '[::0.0.0.1] [::] [0:0:0:0:0:0:0:0]',
  ),
  'IPv4 within IPv6': words(
    '[::ffff:127.0.0.1] [::FFFF:7f00:1] [0:0:0:0:0:ffff:127.0.0.1] [::ffff:0.0.0.0]',
    '[::127.0.0.1] [::7f00:1] [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1]',
    '[64:ff9b:1::7f00:1] [2002:7f00:1::] [2002:7f00:0001::1] [2001:0:7f00:1::]',
    '[2001::80ff:fffe]',
  ),
} satisfies Readonly<Record<string, readonly string[]>>

/** URLs for a port of this machine that some parser may accept, although not all are valid. */
export function loopbackUrls(port: number): readonly string[] {
  const hosts = Object.values(LOOPBACK_HOSTS).flat()
  return [
    ...hosts.map((host) => `http://${host}:${port}/a.pdf`),
    ...words('hTtP:// HTTPS:// http: http:/ http:/// http://// http:\\\\ http:/\\ // \\\\').map(
      (start) => `${start}127.0.0.1:${port}/a.pdf`,
    ),
    // Credentials, in which another parser may see the host.
    `http://files.example.com@127.0.0.1:${port}/a.pdf`,
    `http://files.example.com:80@127.0.0.1:${port}/a.pdf`,
    `http://files.example.com%40127.0.0.1:${port}/a.pdf`,
    `http://files.example.com\\@127.0.0.1:${port}/a.pdf`,
    `http://127.0.0.1:${port}\\@files.example.com/a.pdf`,
    `http://127.0.0.1:${port}\\.files.example.com/a.pdf`,
    `http://127.0.0.1:${port}#@files.example.com/a.pdf`,
    `http://127.0.0.1:${port}?@files.example.com/a.pdf`,
    `http://:@127.0.0.1:${port}/a.pdf`,
    // White space and control characters, which parsers remove or not.
    ` http://127.0.0.1:${port}/a.pdf`,
    `\u0000http://127.0.0.1:${port}/a.pdf`,
    `\u0001http://127.0.0.1:${port}/a.pdf`,
    `ht\ttp://127.0.0.1:${port}/a.pdf`,
    `http\n://127.0.0.1:${port}/a.pdf`,
    `http:/\r/127.0.0.1:${port}/a.pdf`,
    `http://127.0.\t0.1:${port}/a.pdf`,
    `http://127.0.0.1:${port}/a.pdf\r\nHost: files.example.com`,
    `http://127.0.0.1 :${port}/a.pdf`,
    // The zone of an IPv6 address.
    `http://[::1%25lo]:${port}/a.pdf`,
    `http://[::1%lo]:${port}/a.pdf`,
    `http://[fe80::1%25eth0]:${port}/a.pdf`,
    // A port that only parsers read which do not check its length.
    `http://127.0.0.1:${'0'.repeat(20)}${port}/a.pdf`,
  ]
}
