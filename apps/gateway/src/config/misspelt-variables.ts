import leven from 'leven'
import { Environment } from './environment.ts'
import { TRACE_VARIABLES_OF_EXPORTER } from './trace-variables.ts'

export interface MisspeltVariable {
  readonly name: string
  /** The variable of ours that it looks like. */
  readonly meant: string
}

/** What is read beside the variables of the schema: by the gateway itself, and by the clients of S3 and of collectors. */
const READ_ELSEWHERE = [
  'GATEWAY_CONFIG',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  ...TRACE_VARIABLES_OF_EXPORTER,
]
const OURS = [...Object.keys(Environment.properties), ...READ_ELSEWHERE]

/** Shorter names, such as HOST and PORT, are a letter away from too many names of others. */
const LETTERS_MIN = 7

/**
 * Lists the variables that are not read but look like one that is: with other letters' case or separators, with the prefix
 * `TRUNKLINE_`, or, if the one that is meant is not set, with one letter more, less, different or swapped with its neighbour.
 * An environment is shared with other programs, so that anything less alike is assumed to be theirs.
 *
 * @param used - names that the configuration file refers to
 */
export function findMisspeltVariables(
  env: NodeJS.ProcessEnv,
  used: ReadonlySet<string> = new Set(),
): MisspeltVariable[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (!value || OURS.includes(name) || used.has(name) || isServiceLink(name, value)) return []
    const meant = OURS.find((each) => isWrittenLike(name, each) || isSlipOf(name, each, env))
    return meant === undefined ? [] : [{ name, meant }]
  })
}

/**
 * Whether Kubernetes has set it for a service in the same namespace, such as `TRUNKLINE_PORT=tcp://10.0.0.1:80` for one that
 * is called `trunkline`.
 */
function isServiceLink(name: string, value: string): boolean {
  return (
    /_SERVICE_(HOST|PORT)(_|$)|_PORT_\d+_(TCP|UDP|SCTP)(_|$)/.test(name) || /^(tcp|udp|sctp):\/\//.test(value)
  )
}

function isWrittenLike(name: string, ours: string): boolean {
  const plain = name.replace(/[\W_]/g, '').toUpperCase()
  const letters = ours.replaceAll('_', '')
  return plain === `TRUNKLINE${letters}` || (plain === letters && letters.length >= LETTERS_MIN)
}

function isSlipOf(name: string, ours: string, env: NodeJS.ProcessEnv): boolean {
  if (env[ours] || ours.length < LETTERS_MIN) return false
  const edits = leven(name, ours, { maxDistance: 3 })
  return edits === 1 || (edits === 2 && areNeighboursSwapped(name, ours))
}

function areNeighboursSwapped(name: string, ours: string): boolean {
  const at = [...name].findIndex((letter, index) => letter !== ours[index])
  const swapped = name.slice(0, at) + name.charAt(at + 1) + name.charAt(at) + name.slice(at + 2)
  return swapped === ours
}
