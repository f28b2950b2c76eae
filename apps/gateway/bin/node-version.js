import { readFileSync } from 'node:fs'

/** The first version of Node on which the gateway runs, as `engines` in the package's manifest has it: `24.16`. */
// Linear time: not needed for our own manifest.
export const FIRST_NODE = /\d+\.\d+/.exec(readManifest().engines.node)[0]

/** Whether the gateway runs on the Node that runs this. */
export function isNodeNewEnough() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const [firstMajor, firstMinor] = FIRST_NODE.split('.').map(Number)
  return major > firstMajor || (major === firstMajor && minor >= firstMinor)
}

function readManifest() {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
}
