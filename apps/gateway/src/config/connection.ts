import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Connection } from '#core/agents/adapter.ts'
import { errorCode } from '#core/base/values/error-code.ts'
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
 * @param cwd - the folder to which the paths of files are relative
 */
export function resolveConnection(
  { names, proxy, ca: file }: ConnectionEntry,
  path: string,
  cwd: string,
): { connection: Connection; issues: ConfigIssue[] } {
  const connection = { names, ...(proxy !== undefined && { proxy }) }
  if (file === undefined) return { connection, issues: [] }
  const read = readCertificates(resolve(cwd, file))
  return 'problem' in read
    ? { connection, issues: [{ path: `${path}.ca`, problem: read.problem }] }
    : { connection: { ...connection, ca: read.text }, issues: [] }
}

function readCertificates(file: string): { text: string } | { problem: string } {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const code = errorCode(error)
    return { problem: code === 'ENOENT' ? `there is no file ${file}` : `cannot read ${file} (${code})` }
  }
  const certificates = text.match(/-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs) ?? []
  if (certificates.length === 0) return { problem: `expected certificates in PEM, got none in ${file}` }
  // OpenSSL would ignore the rest of the file after one that it cannot read.
  const broken = certificates.findIndex((certificate) => !isCertificate(certificate))
  if (broken !== -1) return { problem: `certificate ${broken + 1} of ${file} cannot be read` }
  return { text: certificates.join('\n') }
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}
