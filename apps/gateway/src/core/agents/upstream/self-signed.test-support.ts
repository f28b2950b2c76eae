import { generateKeyPairSync, sign } from 'node:crypto'

/** A certificate that has signed itself, and its key, for servers of tests. Made anew each time. */
export interface SelfSigned {
  /** PEM. */
  readonly cert: string
  /** PEM. */
  readonly key: string
}

const SEQUENCE = 0x30
/** OpenSSL has the machine's clock, from which `pnpm test:flakes` moves Node's by up to a month. */
const WEEKS_MS = 6 * 7 * 86_400_000
const ECDSA_WITH_SHA256 = der(SEQUENCE, oid('1.2.840.10045.4.3.2'))

/** Node makes keys but no certificates, and tests should not need OpenSSL's program. */
export function selfSigned(name: string): SelfSigned {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const subject = der(
    SEQUENCE,
    der(0x31, der(SEQUENCE, oid('2.5.4.3'), der(0x0c, Buffer.from(`fake ${name}`)))),
  )
  const dnsNames = der(SEQUENCE, der(0x82, Buffer.from(name)))
  const extensions = der(
    SEQUENCE,
    der(SEQUENCE, oid('2.5.29.17'), der(0x04, dnsNames)),
    // It may sign certificates, so that it can be trusted as an authority.
    der(
      SEQUENCE,
      oid('2.5.29.19'),
      der(0x01, Buffer.from([0xff])),
      der(0x04, der(SEQUENCE, der(0x01, Buffer.from([0xff])))),
    ),
  )
  const content = der(
    SEQUENCE,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ECDSA_WITH_SHA256,
    subject,
    der(SEQUENCE, time(-WEEKS_MS), time(WEEKS_MS)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  )
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', content, privateKey)])
  const certificate = der(SEQUENCE, content, ECDSA_WITH_SHA256, der(0x03, signature))
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return {
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  }
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split('.').map(Number)
  const bytes = others.flatMap((arc) => {
    const groups = [arc & 0x7f]
    for (let rest = arc >> 7; rest > 0; rest >>= 7) groups.unshift((rest & 0x7f) | 0x80)
    return groups
  })
  return der(0x06, Buffer.from([first * 40 + second, ...bytes]))
}

function time(fromNowMs: number): Buffer {
  const text = new Date(Date.now() + fromNowMs).toISOString().replace(/[-:T]|\.\d+/g, '')
  return der(0x18, Buffer.from(text))
}
