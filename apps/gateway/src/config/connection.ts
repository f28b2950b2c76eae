import { X509Certificate } from 'node:crypto'
import type { Connection } from '#core/agents/adapter.ts'
import type { FileTexts } from './file-texts.ts'
import type { ConfigIssue } from './issues.ts'

/** The properties of an entry that say how its platform is connected to. */
interface ConnectionEntry {
  readonly names: Connection['names']
  readonly proxy?: string | undefined
  /** The path of a PEM file. */
  readonly ca?: string | undefined
}

/**
 * Reads what the properties name, which the schema has accepted.
 *
 * @param path - the entry's place in the file
 * @param files - reads the files
 */
export function resolveConnection(
  { names, proxy, ca: file }: ConnectionEntry,
  path: string,
  files: FileTexts,
): { connection: Connection; issues: ConfigIssue[] } {
  const connection = { names, ...(proxy !== undefined && { proxy }) }
  if (file === undefined) return { connection, issues: [] }
  const read = readCertificates(file, files)
  return 'problem' in read
    ? { connection, issues: [{ path: `${path}.ca`, problem: read.problem }] }
    : { connection: { ...connection, ca: read.text }, issues: [] }
}

function readCertificates(file: string, files: FileTexts): { text: string } | { problem: string } {
  const read = files.read(file)
  if ('problem' in read) return read
  const { path, text } = read
  // Linear time: not needed, because only operators write this file.
  const certificates = text.match(/-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs) ?? []
  if (certificates.length === 0) return { problem: `expected certificates in PEM, got none in ${path}` }
  // OpenSSL would ignore the rest of the file after one that it cannot read.
  const broken = certificates.findIndex((certificate) => !isCertificate(certificate))
  if (broken !== -1) return { problem: `certificate ${broken + 1} of ${path} cannot be read` }
  return { text: certificates.join('\n') }
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}
